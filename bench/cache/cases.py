"""What is measured: who reads what, and by which ways."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bench.common.ways import NATIVE, Way

OURS = "cache"
TENSORSTORE = "tensorstore"
COPY = "copy"  # out of shared memory: nothing can be faster
LARGE = "native, large chunk cache"
LOADERS, ONCE, LISTS = "loaders", "once", "lists"

_CACHE = Way(OURS, "cache")
_PEERS = (
    Way(LARGE, peer="h5py-large"),
    Way("zarr-python", peer="zarr"),
    Way(TENSORSTORE, peer="tensorstore"),
    Way(COPY, peer="copy"),
)


@dataclass(frozen=True)
class Case:
    """Samples of 224 x 224 x 3 bytes in gzip chunks of `chunk` of them."""

    kernel: str
    chunk: int
    samples: int
    method: str = ""  # of starting loaders
    loaders: int = 1
    epochs: int = 1
    batch: int = 32
    ranks: int = 1

    @property
    def name(self) -> str:
        """Of how many samples a chunk has."""
        return "-".join(filter(None, [self.method, f"{self.chunk}-a-chunk"]))

    @property
    def parameters(self) -> Mapping[str, Any]:
        """As results have them."""
        return {
            "chunk": self.chunk, "samples": self.samples, "method": self.method,
            "loaders": self.loaders, "epochs": self.epochs, "batch": self.batch,
        }  # fmt: skip

    @property
    def ways(self) -> Sequence[Way]:
        """Peers where the work is one that they are made for."""
        peers = _PEERS if self.kernel == LOADERS and self.method == "fork" else ()
        return (NATIVE, _CACHE, *peers)


def cases(*, quick: bool) -> list[Case]:
    """Of the sizes of tests, or of those of results."""
    samples = 32 if quick else 256
    batch = 8 if quick else 32
    return [
        *(
            Case(LOADERS, chunk, samples, method, loaders=4, epochs=3, batch=batch)
            for method in ("fork", "spawn")
            for chunk in (1, 16)
        ),
        *(Case(ONCE, chunk, samples) for chunk in (1, 16)),
        Case(LISTS, 16, samples, epochs=4, batch=batch),
    ]
