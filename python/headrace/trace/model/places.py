"""Places in compiled programs: file and line of an address, where debug information tells them."""

from __future__ import annotations

import shutil
import subprocess
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping


def resolve(lines: Mapping[int, dict[str, Any]]) -> None:
    """Give facts of lines that tell a module and an address in it `source` and `at`.

    By binutils' addr2line. Where that knows nothing they are the module's name and the address in
    hexadecimal.
    """
    by_module: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for fact in lines.values():
        if "module" in fact:
            by_module[fact["module"]].append(fact)
    for module, facts in by_module.items():
        found = _lines_of(module, [fact["offset"] for fact in facts])
        for fact, line in zip(facts, found, strict=True):
            source, _, number = line.rpartition(":")
            known = number.isdecimal() and int(number) > 0
            fact["source"] = source if known else Path(module).name
            fact["at"] = int(number) if known else f"{fact['offset']:#x}"


def _lines_of(module: str, offsets: list[int]) -> list[str]:
    """FILE:LINE of each, as addr2line prints it."""
    program = shutil.which("addr2line")
    if program is None or not Path(module).is_file():
        return [""] * len(offsets)
    asked = "".join(f"{offset:#x}\n" for offset in offsets)
    command = [program, "-e", module]
    done = subprocess.run(command, input=asked, capture_output=True, text=True, check=False)
    # Of lines with several blocks it adds "(discriminator N)".
    found = [line.partition(" (")[0] for line in done.stdout.splitlines()]
    return found if len(found) == len(offsets) else [""] * len(offsets)
