"""What is recorded and replayed: kernels of headrace-bench, and programs in Python."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from bench.common.ways import NATIVE, Way
from bench.trace.cases import KERNELS

REPLAY = Way("replay", "trace")
WAYS = (NATIVE, REPLAY)
PYTHON = "python"  # a kernel that is not headrace-bench's
_PROGRAMS = ("nc3tonc4", "ptrepack", "rewrite")


@dataclass(frozen=True)
class Case:
    """One process, recorded (`native`) and replayed. `words`: headrace-bench's kernel and sizes."""

    kernel: str
    name: str
    words: Sequence[str] = ()
    ways: Sequence[Way] = WAYS
    ranks: int = 1
    parameters: Mapping[str, Any] = field(default_factory=dict)


def cases() -> Iterator[Case]:
    """The kernels of bench/trace that are serial, and the programs."""
    for kernel, name, sizes in KERNELS:
        yield Case(kernel, name, (kernel, *sizes))
    for name in _PROGRAMS:
        yield Case(PYTHON, name)
