"""What a disk may hold when a program ends too early, from a record of all that it did to files.

`record.c` makes the record. A program that is killed leaves all changes before that moment, and of
the write under way any number of pages. A power cut leaves what was synchronised, and of the
changes since then any, in any order, each whole or up to the end of a sector. Names are kept by
their folders: what came to a folder or went from it is safe when the folder has been synchronised.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path, PurePath

PAGE = 4096
SECTOR = 512
Tree = dict[str, bytes | None]  # paths; None for a folder


@dataclass(frozen=True)
class Change:
    kind: str  # create, folder, remove, write, resize, sync, note
    path: str
    at: int = 0  # of a write; the size of a resize
    data: bytes = b""

    def part(self, unit: int, chance: random.Random) -> Change:
        """The same up to a multiple of some bytes inside it; nothing where there is none."""
        ends = [0, *range(unit - self.at % unit, len(self.data), unit)]
        return Change(self.kind, self.path, self.at, self.data[: chance.choice(ends)])

    def made(self, content: bytes) -> bytes:
        """A file's content after a write or resize."""
        if self.kind == "resize":
            return content[: self.at].ljust(self.at, b"\0")
        content = content.ljust(self.at, b"\0")
        return content[: self.at] + self.data + content[self.at + len(self.data) :]


def read_record(file: Path) -> list[Change]:
    return list(_changes(file.read_bytes()))


def _changes(record: bytes) -> Iterator[Change]:
    at = 0
    while at < len(record):
        end = record.index(b"\n", at)
        kind, path, *numbers = record[at:end].decode().split(" ")
        at = end + 1
        size = int(numbers[1]) if kind == "write" else 0
        yield Change(kind, path, int(numbers[0]) if numbers else 0, record[at : at + size])
        at += size


@dataclass
class File:
    safe: bytes = b""
    changes: list[Change] = field(default_factory=list)  # since then

    def now(self) -> bytes:
        content = self.safe
        for change in self.changes:
            content = change.made(content)
        return content

    def sync(self) -> None:
        self.safe, self.changes = self.now(), []

    def left(self, chance: random.Random) -> bytes:
        """After a power cut."""
        content = self.safe
        for change in chance.sample(self.changes, chance.randint(0, len(self.changes))):
            torn = change.kind == "write" and chance.random() < 0.5
            content = (change.part(SECTOR, chance) if torn else change).made(content)
        return content


Entry = File | str | None  # a file, a folder, nothing


class Disk:
    """All changes so far, and which of them are safe."""

    def __init__(self, before: Tree) -> None:
        self.names: dict[str, list[Entry]] = {".": ["folder"]}  # the safe entry, and all since then
        for path, content in before.items():
            self.names[path] = ["folder" if content is None else File(content)]

    def make(self, change: Change) -> None:
        entries = self.names.setdefault(change.path, [None])
        last = entries[-1]
        if change.kind in ("create", "folder", "remove"):
            made: dict[str, Entry] = {"create": File(), "folder": "folder"}
            entries.append(made.get(change.kind))
        elif change.kind == "sync" and isinstance(last, File):
            last.sync()
        elif change.kind == "sync":
            for path, below in self.names.items():
                if str(PurePath(path).parent) == change.path and path != ".":
                    del below[:-1]
        elif change.kind in ("write", "resize"):
            assert isinstance(last, File), change
            last.changes.append(change)

    def killed(self, under_way: Change | None, chance: random.Random) -> Tree:
        """When the program is killed; of a write that is under way a part is made."""
        last = {path: entries[-1] for path, entries in self.names.items()}
        tree = _tree(last, File.now)
        if under_way and under_way.kind == "write":
            content = tree[under_way.path]
            assert content is not None
            tree[under_way.path] = under_way.part(PAGE, chance).made(content)
        return tree

    def without_unsafe(self) -> Tree:
        """When the power is cut, and nothing is left that was not synchronised."""
        left = {path: entries[0] for path, entries in self.names.items()}
        return _tree(left, lambda file: file.safe)

    def cut(self, chance: random.Random) -> Tree:
        """When the power is cut, and anything is left of what was not synchronised."""
        left = {path: chance.choice(entries) for path, entries in self.names.items()}
        return _tree(left, lambda file: file.left(chance))


def _tree(entries: dict[str, Entry], content: Callable[[File], bytes]) -> Tree:
    """What can be reached from the top."""
    tree: Tree = {}
    for path, entry in sorted(entries.items()):
        parent = str(PurePath(path).parent)
        if entry is not None and (parent == "." or parent in tree):
            tree[path] = content(entry) if isinstance(entry, File) else None
    return tree


def write_tree(tree: Tree, folder: Path) -> None:
    folder.mkdir(parents=True)
    for path, content in sorted(tree.items()):
        if content is None:
            (folder / path).mkdir(exist_ok=True)
        else:
            (folder / path).write_bytes(content)
