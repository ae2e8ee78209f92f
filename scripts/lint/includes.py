"""Who may include whom in C and C++, by the table `includes.toml`: `includes.py [ROOT]`.

Prints what breaks the table, and what of the table is out of date, and ends with status 1 then.
"""

from __future__ import annotations

import re
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import Any

SUFFIXES = {".c", ".cpp", ".cu", ".def", ".h", ".hpp"}
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)


@dataclass(frozen=True)
class Include:
    """`target` and `file` are paths from the root."""

    file: Path
    line: int
    target: Path


class Rooms:
    """The rooms of a table, which are folders and files, by their paths from the root."""

    def __init__(self, table: dict[str, Any]) -> None:
        self.may: dict[str, list[str]] = table["rooms"]

    def of(self, file: Path) -> str | None:
        """The nearest: the file itself, or the folder around it that has a row."""
        around = (each.as_posix() for each in (file, *file.parents))
        return next((each for each in around if each in self.may), None)


def files_below(root: Path, tops: list[str]) -> Iterator[Path]:
    for top in tops:
        yield from sorted(each for each in (root / top).rglob("*") if each.suffix in SUFFIXES)


def includes_of(file: Path, root: Path, search: list[str]) -> Iterator[Include | str]:
    """Texts are complaints."""
    text, name = file.read_text(encoding="utf-8"), file.relative_to(root)
    for found in INCLUDE.finditer(text):
        line = text.count("\n", 0, found.start(1)) + 1
        places = (folder / found[1] for folder in (file.parent, *(root / each for each in search)))
        target = next((each.resolve() for each in places if each.is_file()), None)
        if target is None:
            yield f'{name}:{line}: "{found[1]}" is no file of the project: use <>'
        else:
            yield Include(name, line, target.relative_to(root))


def broken(root: Path, table: dict[str, Any]) -> Iterator[str]:
    """What the files break, and which rooms of the table serve nothing."""
    rooms, seen = Rooms(table), set[str]()
    for file in files_below(root, table["checked"]):
        name = file.relative_to(root)
        room = rooms.of(name)
        if room is None:
            yield f"{name}: it is in no room of the table"
            continue
        seen.add(room)
        for each in includes_of(file, root, table["search"]):
            if isinstance(each, str):
                yield each
                continue
            other = rooms.of(each.target)
            if other is None:
                yield f"{name}:{each.line}: {each.target} is in no room of the table"
            elif other != room and other not in rooms.may[room]:
                yield f"{name}:{each.line}: {room} may not include {other} ({each.target})"
    for empty in rooms.may.keys() - seen:
        yield f"table: the room {empty} has no files"


def circular(may: dict[str, list[str]]) -> Iterator[str]:
    """What is wrong with the rows themselves."""
    for room, others in may.items():
        for other in others:
            if other not in may:
                yield f"table: {room} may include {other}, which is no room"
    try:
        TopologicalSorter(may).prepare()
    except CycleError as error:
        yield f"table: the rows make a circle: {' > '.join(error.args[1])}"


def main() -> None:
    root = Path(sys.argv[1] if len(sys.argv) > 1 else ".").resolve()
    table = tomllib.loads((root / "scripts/lint/includes.toml").read_text(encoding="utf-8"))
    found = [*circular(table["rooms"]), *broken(root, table)]
    if found:
        sys.exit("\n".join(found))


if __name__ == "__main__":
    main()
