"""What one process has recorded."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

KINDS: Final = ("read", "write", "flush", "truncate")
MEMORY_TYPES: Final = (
    "default", "superblock", "btree", "raw data", "global heap", "local heap", "object header",
)  # fmt: skip

Fact = dict[str, Any]
Numbers = dict[str, "NDArray[np.int64]"]


@dataclass
class Process:
    """What one process has recorded.

    `about` is of the process; `objects`, `files`, `storages`, `datasets`, `shapes`, `types` and
    `lines` are facts by their ids. `damage` says why the file could not be read to its end; ""
    when it was.
    """

    source: Path
    about: Fact = field(default_factory=dict)
    objects: dict[int, Fact] = field(default_factory=dict)
    files: dict[int, Fact] = field(default_factory=dict)
    storages: dict[int, Fact] = field(default_factory=dict)
    datasets: dict[int, Fact] = field(default_factory=dict)
    shapes: dict[int, Fact] = field(default_factory=dict)
    types: dict[int, Fact] = field(default_factory=dict)
    lines: dict[int, Fact] = field(default_factory=dict)
    names: dict[int, Fact] = field(default_factory=dict)
    arguments: dict[int, Fact] = field(default_factory=dict)  # by the numbers of calls
    encoded: dict[int, Fact] = field(default_factory=dict)
    callbacks: Sequence[str] = ()
    calls: Numbers = field(default_factory=dict)
    requests: Numbers = field(default_factory=dict)
    damage: str = ""

    @property
    def rank(self) -> int:
        """Among those that opened a file together; -1 where none was."""
        return max((int(each["rank"]) for each in self.storages.values()), default=-1)

    @property
    def clock_offset(self) -> int:
        """What leads from a time of its tables to nanoseconds since 1970."""
        return int(self.about["time"]) - int(self.about["monotonic"])

    @property
    def level_of_files(self) -> dict[int, int]:
        """How many layers of this kind are above the one that told of a file."""
        return {id_: int(each["level"]) for id_, each in self.files.items()}


def line_of(fact: Fact) -> str:
    """As compilers name lines: FILE:NUMBER."""
    return f"{fact['source']}:{fact['at']}"
