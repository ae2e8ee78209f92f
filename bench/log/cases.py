"""What is measured: the kernel `e3sm`, on one process and over MPI, and `vpic` over MPI."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bench.common.ways import NATIVE, Way

KERNEL = "e3sm"
H5BENCH = "vpic"  # h5bench's patterns of writing
LATER = Way("log later", "log(canonicalise=later)")
CLOSE = Way("log close", "log(canonicalise=close)")
RANKS = Way("log over ranks", "log(mpi_logs=rank,canonicalise=close)")
RANKS_LATER = Way("log over ranks, later", "log(mpi_logs=rank,canonicalise=later)")
KEPT = (LATER, RANKS_LATER)  # where logs wait
NAMES = tuple(f"{which}-{calls}-independent" for which in "fg" for calls in ("boxes", "canonical"))
# What lies between the blocks of `strided-collective` is not defined, so it is no file to compare.
PATTERNS = (
    *(
        f"{pattern}-{calls}"
        for pattern in ("contiguous", "compound", "interleaved", "compound-members")
        for calls in ("independent", "collective")
    ),
    "strided-independent",
)
_SIZES = ("--particles", "1Mi", "--slow-particles", "256Ki", "--timesteps", "2")


@dataclass(frozen=True)
class Case:
    """A case of a kernel of headrace-bench on so many ranks; one is without MPI."""

    name: str
    ways: Sequence[Way]
    ranks: int = 1
    parameters: Mapping[str, Any] = field(default_factory=dict)
    command: str = KERNEL  # of headrace-bench

    @property
    def kernel(self) -> str:
        """As results have it, apart by the number of ranks."""
        return self.command if self.ranks == 1 else f"{self.command}-{self.ranks}-ranks"

    @property
    def logs(self) -> bool:
        """Whether there must be something in a log."""
        return self.command == KERNEL or self.name.startswith("strided")

    def words(self, data: Path) -> list[str]:
        """The command line of headrace-bench, which leaves the file."""
        if self.command == KERNEL:
            return ["--keep", KERNEL, "--data", str(data), "--case", self.name[0]]
        return ["--keep", self.command, *_SIZES]


def cases(ranks: int) -> list[Case]:
    """On one process, and on that many."""
    serial = [Case(name, (NATIVE, LATER, CLOSE)) for name in NAMES]
    if ranks == 1:
        return serial
    ways = (NATIVE, RANKS_LATER, RANKS)
    over_mpi = [Case(name, ways, ranks) for name in NAMES]
    return [
        *serial,
        *over_mpi,
        *(Case(name, ways, ranks, command=H5BENCH) for name in PATTERNS),
    ]
