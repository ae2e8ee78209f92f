"""What README shows of traces: a program runs under `headrace trace`, and what that says of it.

Prints that. With --update it goes into README.md, and pictures of a report into docs/pictures.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

HERE = Path(__file__).resolve().parent
WORK = HERE.parent / "build/demo"
README = HERE.parent / "README.md"
PICTURES = HERE.parent / "docs/pictures"
PROGRAM = "mistake.py"
TRACE = "mistake.hrtrace"
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
SIZE = (1100, 1000)  # pixels of a picture
SCHEMES = {"trace.png": 1, "trace-dark.png": 0}  # as Chromium numbers what people prefer
_WIDTH = 100
_LIMIT = 120  # seconds


def environment() -> dict[str, str]:
    """In which `python` and `headrace` are those of this Python, on a page of that width."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    return {**os.environ, "PATH": path, "COLUMNS": str(_WIDTH)}


def run(words: Sequence[str], folder: Path) -> str:
    """What it prints; ends the program when it fails."""
    done = subprocess.run(
        words, cwd=folder, env=environment(), capture_output=True, text=True, check=False,
        timeout=_LIMIT,
    )  # fmt: skip
    if done.returncode != 0:
        sys.exit(f"{' '.join(words)} failed:\n{done.stdout}{done.stderr}")
    return done.stdout + done.stderr


def traced(folder: Path) -> str:
    """The command, and what is said at its end; the trace is left in the folder."""
    command = ["headrace", "trace", "--", "python", PROGRAM]
    shutil.copyfile(HERE / PROGRAM, folder / PROGRAM)
    run(command, folder)
    said = run(["headrace", "trace", TRACE], folder)
    return f"$ {' '.join(command)}\n{said.rstrip()}"


def put_in(text: str, block: str) -> str:
    """The page with this block where its comments say so."""
    begin, end = "<!-- demo/trace.py -->\n", "<!-- end -->"
    before, found, rest = text.partition(begin)
    _, closed, after = rest.partition(end)
    if not found or not closed:
        sys.exit("there is no place for what was said")
    return f"{before}{begin}```\n{block}\n```\n{end}{after}"


def take_pictures(page: Path, folder: Path) -> None:
    """Of the top of a report as people see it who prefer light pages, and dark ones."""
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser is None:
        sys.exit(f"there is no browser: one of {', '.join(BROWSERS)}")
    folder.mkdir(parents=True, exist_ok=True)
    for name, scheme in SCHEMES.items():
        run(
            [browser, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
             f"--user-data-dir={page.parent / 'browser'}", f"--window-size={SIZE[0]},{SIZE[1]}",
             f"--blink-settings=preferredColorScheme={scheme}",
             f"--screenshot={folder / name}", page.as_uri()],
            page.parent,
        )  # fmt: skip


def main() -> None:
    """What the command line says."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--update", action="store_true", help="write README.md and pictures")
    parser.add_argument("--readme", type=Path, default=README, help="instead of README.md")
    parser.add_argument("--pictures", type=Path, default=PICTURES, help="folder for the pictures")
    parser.add_argument("--work", type=Path, default=WORK, help="folder for all files")
    given = parser.parse_args()
    folder = given.work.resolve() / "trace"
    folder.mkdir(parents=True, exist_ok=True)
    block = traced(folder)
    Console().print(block, markup=False, highlight=False, soft_wrap=True)
    run(["headrace", "report", "mistake.hrtrace"], folder)
    if given.update:
        text = given.readme.read_text(encoding="utf-8")
        given.readme.write_text(put_in(text, block), encoding="utf-8")
        take_pictures(folder / "mistake.html", given.pictures.resolve())


if __name__ == "__main__":
    main()
