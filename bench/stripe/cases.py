"""What is measured: large writes and reads by stripe size, kernels over MPI, and fusing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from bench.common.ways import NATIVE, Way

IOR, FUSE = "ior", "fuse"
FILES = 2  # pieces of a set, and files that are written without HDF5
STRIPES = ("64KiB", "1MiB", "4MiB", "32MiB")
BYTES = {"64KiB": 64 << 10, "1MiB": 1 << 20, "4MiB": 4 << 20, "32MiB": 32 << 20}
_KERNELS = (
    ("iotest", "2d-step-contiguous-independent",
     ("--steps", "1", "--arrays", "20", "--rows", "64", "--columns", "64")),
    ("iotest", "2d-step-contiguous-collective",
     ("--steps", "1", "--arrays", "20", "--rows", "64", "--columns", "64")),
    ("vpic", "contiguous-independent", ("--particles", "1Mi", "--timesteps", "1")),
    ("vpic", "contiguous-collective", ("--particles", "1Mi", "--timesteps", "1")),
    ("cgns", "multi-independent", ()),
    ("hacc", "arrays-independent", ("--particles", "1Mi")),
    ("hacc", "arrays-collective", ("--particles", "1Mi")),
)  # fmt: skip


def ours(stripe: str) -> Way:
    return Way("stripe", f"stripe(per=total,files={FILES},size={stripe})")


def gathered(stripe: str) -> Way:
    """One rank of the node writes what all give it."""
    return Way("stripe, aggregated", f"stripe(files={FILES},size={stripe},aggregate=node)")


def on_disks_of_nodes(stripe: str) -> Way:
    """A piece on each node, which others cannot reach."""
    return Way("stripe, disks of nodes", f"stripe(files=1,size={stripe},local=true)")


def subfiling(stripe: str) -> Way:
    """HDF5's own, which headrace-bench is told to use."""
    told = {
        "H5FD_SUBFILING_STRIPE_SIZE": str(BYTES[stripe]),
        "H5FD_SUBFILING_IOC_PER_NODE": str(FILES),
    }
    return Way("HDF5's subfiling", environ=told)


@dataclass(frozen=True)
class Case:
    """A case of a kernel of headrace-bench on so many ranks, or a set that is made one file."""

    command: str
    case: str  # as headrace-bench has it
    stripe: str
    ranks: int
    words: Sequence[str] = ()
    ways: Sequence[Way] = (NATIVE,)
    parameters: Mapping[str, Any] = field(default_factory=dict)
    on_nodes: bool = False  # ranks by turns are on two nodes

    @property
    def kernel(self) -> str:
        name = self.command if self.ranks == 1 else f"{self.command}-{self.ranks}-ranks"
        return f"{name}-2-nodes" if self.on_nodes else name

    @property
    def name(self) -> str:
        return f"{self.case}-{self.stripe}" if self.command in (IOR, FUSE) else self.case

    @property
    def bytes(self) -> int:
        """Of a stripe."""
        return BYTES[self.stripe]


def cases() -> list[Case]:
    large = ("--block", "16Mi", "--transfer", "16Mi")  # 128 MiB by all ranks together
    found = [
        Case(IOR, "independent", stripe, ranks, (*large, "--segments", str(8 // ranks)),
             (NATIVE, ours(stripe), *([subfiling(stripe)] if ranks > 1 else [])))
        for ranks in (2, 1, 4) for stripe in STRIPES
    ]  # fmt: skip
    found += [
        Case(kernel, name, "1MiB", ranks, words,
             (NATIVE, ours("1MiB"), subfiling("1MiB"),
              *([gathered("1MiB")] if "collective" in name else [])))
        for ranks in (2, 4) for kernel, name, words in _KERNELS
    ]  # fmt: skip
    found += [
        Case(IOR, "independent", stripe, 2, (*large, "--segments", "4"),
             (NATIVE, ours(stripe), on_disks_of_nodes(stripe)), on_nodes=True)
        for stripe in STRIPES
    ]  # fmt: skip
    return found + [Case(FUSE, "256MiB", stripe, 1, (), (NATIVE, ours(stripe)))
                    for stripe in STRIPES]  # fmt: skip
