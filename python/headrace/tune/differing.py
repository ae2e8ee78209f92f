"""Whether a run is another one than that which settings were found for."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

from headrace.measuring import machine

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


def differing(config: Path, command: Sequence[str], folder: Path) -> Iterator[str]:
    """In sentences; nothing for a configuration that no search has written.

    `config` is one that has been read before; `folder` is where the program runs.
    """
    found = tomllib.loads(config.read_text(encoding="utf-8")).get("found")
    if not isinstance(found, dict):
        return
    before, now = found.get("command"), program_of(command)
    if isinstance(before, list) and before and program_of(before) != now:
        yield f"{config} was found for {program_of(before)}, and this is {now}"
    storage, here = found.get("file_system"), machine.storage(folder).get("file_system")
    if storage and here and storage != here:
        yield f"{config} was found on {storage}, and this folder is on {here}"


def program_of(command: Sequence[str]) -> str:
    """The script, or else the program, by its last name."""
    scripts = (str(word) for word in command if str(word).endswith(".py"))
    return Path(next(scripts, str(command[0]))).name
