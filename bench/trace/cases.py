"""What is measured: single operations, kernels of headrace-bench, and programs in Python."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bench.common.ways import NATIVE, Way
from bench.micro.programs import Operation, programs

NULL = Way("null", "null")
TRACE = Way("trace", "trace")
BARE = Way("trace without lines", "trace(lines=false)")
PROFILE = Way("trace, profile", "trace(level=profile)")
COMPILED = (NATIVE, NULL, TRACE, PROFILE)  # there are no lines of Python in these
INTERPRETED = (NATIVE, NULL, TRACE, BARE, PROFILE)
CALLS, PYTHON = "calls", "python"  # kernels that are not headrace-bench's
_SECONDS = "300ms"  # at least, of a kernel: short ones are repeated in their process

# Kernel, case, and sizes with which most take some tenths of a second.
KERNELS: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    ("metadata", "default-contiguous", ("--groups", "20")),
    ("metadata", "latest-compact", ("--groups", "20")),
    ("iotest", "2d-step-contiguous-independent",
     ("--steps", "10", "--arrays", "200", "--rows", "32", "--columns", "32")),
    ("iotest", "4d-step-chunked-independent",
     ("--steps", "10", "--arrays", "200", "--rows", "32", "--columns", "32")),
    ("e3sm", "f-canonical-independent", ()),
    ("e3sm", "g-boxes-independent", ()),
    ("vpic", "contiguous-independent", ("--particles", "1Mi", "--timesteps", "2")),
    ("vpic", "strided-independent", ("--slow-particles", "64Ki", "--timesteps", "2")),
    ("bdcats", "contiguous-independent", ("--particles", "1Mi", "--timesteps", "2")),
    ("hacc", "arrays-independent", ("--particles", "1Mi")),
    ("amrex", "multi-default", ("--domain", "64")),
    ("cgns", "multi-independent", ()),
    ("sw4", "timeseries-gzip", ("--nx", "64", "--ny", "64", "--nz", "32")),
    ("ior", "independent", ("--segments", "2")),
    ("ml", "chunked-sample", ("--samples-count", "256")),
    ("h5py", "append-rows", ("--rows", "16Ki")),
    ("h5py", "fancy-rows", ("--rows", "16Ki")),
)  # fmt: skip
_OVER_MPI: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    ("metadata", "default-contiguous-each", ("--groups", "10")),
    ("iotest", "2d-step-contiguous-independent",
     ("--steps", "5", "--arrays", "50", "--rows", "32", "--columns", "32")),
    ("iotest", "2d-step-contiguous-collective",
     ("--steps", "5", "--arrays", "50", "--rows", "32", "--columns", "32")),
    ("e3sm", "g-canonical-collective", ()),
    ("vpic", "contiguous-collective", ("--particles", "1Mi", "--timesteps", "2")),
)  # fmt: skip
_PROGRAMS: Mapping[str, Mapping[str, int]] = {
    "tiny-datasets": {"count": 2000},
    "attributes": {"count": 4000},
    "rows": {"count": 20_000},
    "compressed-rows": {"count": 2000},
    "long": {"count": 200_000},
}


@dataclass(frozen=True)
class Case:
    """One process, or so many ranks. `parameters` are as the results show them."""

    kernel: str
    name: str
    ways: Sequence[Way] = COMPILED
    ranks: int = 1
    parameters: Mapping[str, Any] = field(default_factory=dict)
    command: str = ""  # the kernel as headrace-bench has it
    operation: Operation | None = None

    def words(self, data: Path | None) -> list[str]:
        """The command line of headrace-bench."""
        maps = ["--data", str(data)] if data is not None and self.command == "e3sm" else []
        return ["--at-least", _SECONDS, self.command, *maps, *self.parameters["words"]]


def cases(ranks: int) -> list[Case]:
    """On one process, and on that many ranks."""
    return [*calls(), *kernels(KERNELS, 1), *interpreted(),
            *(kernels(_OVER_MPI, ranks) if ranks > 1 else ())]  # fmt: skip


def calls() -> Iterator[Case]:
    """By programs of the benchmark `micro`: one in C, and one with h5py."""
    compiled, *_, h5py = programs(Path())
    for program, kernel, ways in (
        (compiled, CALLS, COMPILED),
        (h5py, f"{CALLS}-h5py", INTERPRETED),
    ):
        for operation in program.operations:
            name = operation.name.replace("+", " and ").replace(",", "")
            yield Case(kernel, name, ways, operation=operation)


def kernels(rows: Sequence[tuple[str, str, tuple[str, ...]]], ranks: int) -> Iterator[Case]:
    for kernel, name, words in rows:
        shown = kernel if ranks == 1 else f"{kernel}-{ranks}-ranks"
        yield Case(shown, name, COMPILED, ranks, {"words": list(words)}, kernel)


def interpreted() -> Iterator[Case]:
    for name, given in _PROGRAMS.items():
        yield Case(PYTHON, name, INTERPRETED, parameters=given)
