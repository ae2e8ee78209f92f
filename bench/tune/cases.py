"""What is measured: programs with h5py and netCDF4, and kernels of headrace-bench."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from bench.common.ways import NATIVE, Way
from bench.trace.cases import KERNELS

from .programs import PROGRAMS, Program

TUNE = Way("tune", "tune")
PYTHON = "python"
_SECONDS = "300ms"  # at least, of a kernel: short ones are repeated in their process


@dataclass(frozen=True)
class Case:
    """Natively and under the layer, by itself with the rules that are on without a word."""

    kernel: str
    name: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    program: Program | None = None
    ranks: int = 1
    ways: Sequence[Way] = (NATIVE, TUNE)

    @property
    def words(self) -> list[str]:
        """The command line of headrace-bench."""
        return ["--at-least", _SECONDS, self.kernel, *self.parameters["words"]]


def cases(*, quick: bool = False) -> list[Case]:
    """`quick`: as small as tests want them."""
    counts = {each.name: 6 if quick else each.count for each in PROGRAMS}
    return [
        *(
            Case(
                PYTHON,
                each.name,
                {"N": counts[each.name]},
                each,
                ways=_ways(each),
            )
            for each in PROGRAMS
        ),
        *(Case(kernel, name, {"words": list(words)}) for kernel, name, words in KERNELS),
    ]


def _ways(program: Program) -> tuple[Way, Way]:
    if not program.storage:
        return NATIVE, Way(TUNE.name, program.stack)
    return Way(NATIVE.name, program.storage), Way(TUNE.name, f"{program.stack},{program.storage}")
