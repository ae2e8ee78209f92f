"""What is known of a file that was there before a program, and the paths in it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from headrace.trace.model.process import Fact, Process


@dataclass(frozen=True)
class Touch:
    """A transfer. `space` is a dataspace of the dataset as the trace has it, None for all of it.

    `stored`: bytes of each part of the file that it was the first to read of raw data; None where
    the trace cannot tell. `heap`: the same of values of variable length, all together.
    """

    process: Process
    is_read: bool
    space: int | Fact | None
    bytes: int
    stored: Sequence[int] | None
    heap: int


@dataclass
class Known:
    """A file, object or attribute; `opened` has what it was like, by ids of the process' facts.

    `ratio`: stored to written bytes of what the program has written.
    """

    kind: str
    process: Process
    opened: Fact
    attributes: dict[str, Known] = field(default_factory=dict)
    touched: list[Touch] = field(default_factory=list)
    ratio: float = 1.0


@dataclass
class Contents:
    """Of one file. `unknown`: of what too little is known, and why, by path.

    `ordered`: the program has gone through objects in the order of their creation. `tokens`: paths
    of objects that it has found by references, by what these are.
    """

    file: Known | None = None
    tokens: dict[str, str] = field(default_factory=dict)
    objects: dict[str, Known] = field(default_factory=dict)
    unknown: dict[str, str] = field(default_factory=dict)
    ordered: bool = False

    def is_unknown(self, path: str) -> bool:
        """Whether it or what it is in is."""
        return any(each in self.unknown for each in with_parents(path))


class Made:
    """Paths that the program has made itself, and attributes by path and name."""

    def __init__(self) -> None:
        """Nothing yet."""
        self._paths: set[str] = set()
        self.attributes: set[tuple[str, str]] = set()

    def add(self, path: str) -> None:
        """One that leads to nothing that was there before."""
        self._paths.add(path)

    def has(self, path: str) -> bool:
        """Whether it or what it is in was made."""
        return any(each in self._paths for each in with_parents(path))


def joined(base: str, *names: str) -> str:
    """A path from the root, without parts that lead nowhere."""
    whole = base
    for name in names:
        whole = name if name.startswith("/") else f"{whole}/{name}"
    return "/" + "/".join(part for part in whole.split("/") if part not in {"", "."})


def parent_of(path: str) -> str:
    """Of a path as `joined` makes it; the root's is the root."""
    return path.rpartition("/")[0] or "/"


def with_parents(path: str) -> Iterator[str]:
    """The path and all above it but the root."""
    while path != "/":
        yield path
        path = parent_of(path)
