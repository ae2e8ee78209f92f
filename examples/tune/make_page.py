"""Writes docs/guide/tuning-cases.md: five cases, each a command and what it prints.

python examples/tune/make_page.py [NUMBER...]     those cases only
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
PAGE = HERE.parents[1] / "docs/guide/tuning-cases.md"
PARALLEL = HERE.parents[1] / "build/hdf5/1.14.5-openmpi/install/lib/libhdf5.so"
LIMIT = 1200  # seconds of a command


HEAD = """# Five cases of tuning

Each case is a program in `examples/tune`, a command and what it printed. The times are those of one
machine with two cores; `examples/tune/make_page.py` runs the commands on yours and writes this page
anew.
"""


def run(command: str, folder: Path) -> str:
    """What it prints, on both streams."""
    here = Path(sys.executable).parent
    bench = here.parent / "lib/python3.11/site-packages/headrace/bin"
    environ = os.environ | {
        "PATH": f"{here}:{bench}:{os.environ['PATH']}",
        "COLUMNS": "100", "NO_COLOR": "1", "PARALLEL": str(PARALLEL),
        "XDG_DATA_HOME": str(folder / "data"),
    }  # fmt: skip
    print(f"$ {command}", flush=True)
    done = subprocess.run(
        ["/bin/bash", "-c", command], cwd=folder, env=environ, check=False, text=True,
        timeout=LIMIT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip
    print(done.stdout, flush=True)
    if done.returncode:
        raise SystemExit(f"{command}: ended with status {done.returncode}")
    text = done.stdout.replace(f"{folder}/", "").replace(str(PARALLEL), "$PARALLEL")
    return re.sub(r"[ \t]+$", "", text, flags=re.MULTILINE).strip("\n")


def section(number: int, case: dict[str, Any]) -> str:
    """Of the page."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for program in HERE.glob("*.py"):
            shutil.copy(program, folder)
        for command in case["before"]:
            run(command, folder)
        shown = "\n\n".join(f"$ {command}\n{run(command, folder)}" for command in case["commands"])
    title = f"## {number}. {case['title']}"
    return "\n\n".join((title, case["why"], f"```text\n{shown}\n```", case["after"])) + "\n"


def main() -> None:
    cases = tomllib.loads((HERE / "cases.toml").read_text())["case"]
    chosen = [int(word) for word in sys.argv[1:]] or range(1, len(cases) + 1)
    text = PAGE.read_text() if PAGE.exists() else ""
    before = re.findall(r"^(## (\d+)\..*?)(?=^## |\Z)", text, flags=re.MULTILINE | re.DOTALL)
    sections = {0: HEAD} | {int(number): kept for kept, number in before}
    for number in chosen:
        sections[number] = section(number, cases[number - 1])
    texts = [text.rstrip("\n") for _, text in sorted(sections.items())]
    PAGE.write_text("\n\n".join(texts) + "\n")


if __name__ == "__main__":
    main()
