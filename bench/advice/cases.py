"""What is measured: the program of each rule, as it was and with its advice followed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bench.common.ways import Way

from headrace.bench.stacks import native

from .programs import OVER_MPI, PROGRAMS, Program

KERNEL = "advice"
FOLLOWED = "followed"


@dataclass(frozen=True)
class Case:
    """`quick` takes the sizes of tests."""

    program: Program
    quick: bool = False
    kernel: str = KERNEL

    @property
    def ranks(self) -> int:
        """Two where the program is a kernel."""
        return 2 if self.program.kernel else 1

    @property
    def name(self) -> str:
        """That of the rule, and of the variant."""
        return self.program.name

    @property
    def size(self) -> int:
        """The program's `N`."""
        return self.program.small if self.quick else self.program.size

    @property
    def parameters(self) -> Mapping[str, Any]:
        """As results have them."""
        return {"N": self.size, "storage": self.program.storage, "layers": self.program.layers}

    @property
    def ways(self) -> Sequence[Way]:
        """As it was, which goes by the name of native, and followed."""
        return (Way(native, self.stack(native)), Way(FOLLOWED, self.stack(self.program.layers)))

    def stack(self, layers: str) -> str:
        """With the layer below that is the storage, where there is one."""
        if not self.program.storage:
            return layers
        model = f"model({self.program.storage.strip(';').replace(';', ',')})"
        return model if layers == native else f"{layers}+{model}"


def cases(*, quick: bool) -> list[Case]:
    """One for each rule."""
    return [Case(each, quick) for each in (*PROGRAMS, *OVER_MPI)]
