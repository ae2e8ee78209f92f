"""What is measured: the kernel `e3sm`, on one process and over MPI."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from bench.common.ways import NATIVE, Way

KERNEL = "e3sm"
LATER = Way("log later", "log(canonicalise=later)")
CLOSE = Way("log close", "log(canonicalise=close)")
RANKS = Way("log over ranks", "log(mpi_logs=rank,canonicalise=close)")
RANKS_LATER = Way("log over ranks, later", "log(mpi_logs=rank,canonicalise=later)")
KEPT = (LATER, RANKS_LATER)  # where logs wait
NAMES = tuple(f"{which}-{calls}-independent" for which in "fg" for calls in ("boxes", "canonical"))


@dataclass(frozen=True)
class Case:
    """A case of headrace-bench's kernel on so many ranks; one is without MPI."""

    name: str
    ways: Sequence[Way]
    ranks: int = 1
    parameters: Mapping[str, Any] = field(default_factory=dict)

    @property
    def kernel(self) -> str:
        """As results have it, apart by the number of ranks."""
        return kernel(self.ranks)


def kernel(ranks: int) -> str:
    return KERNEL if ranks == 1 else f"{KERNEL}-{ranks}-ranks"


def cases(ranks: int) -> list[Case]:
    """On one process, and on that many."""
    serial = [Case(name, (NATIVE, LATER, CLOSE)) for name in NAMES]
    return serial + [Case(name, (NATIVE, RANKS_LATER, RANKS), ranks) for name in NAMES if ranks > 1]
