"""What is measured: who reads what, and by which ways."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bench.common.ways import NATIVE, Way

from headrace.bench.stacks import native

OURS = "cache"
TENSORSTORE = "tensorstore"
COPY = "copy"  # out of shared memory: nothing can be faster
LARGE = "native, large chunk cache"
STAGED = "staged"
ASYNC = "async"
LOADERS, ONCE, LISTS, WHOLE, DISK, SIZES, CHECKPOINTS = (
    "loaders", "once", "lists", "whole", "disk", "sizes", "checkpoints",
)  # fmt: skip

_CACHE = Way(OURS, "cache")
_COPY = Way(COPY, peer="copy")
_BOTH = Way(ASYNC, ASYNC), Way("cache,async", "cache,async")
# 200 MB/s and 1 ms a request, as a shared file system may give a node.
_SLOW = "model(mode=delay,preset=none,bandwidth=200000000,latency=1ms,stripe_size=1GiB)"
_PEERS = (
    Way(LARGE, peer="h5py-large"),
    Way("zarr-python", peer="zarr"),
    Way(TENSORSTORE, peer="tensorstore"),
    _COPY,
)
_STAGING = (
    Way(native, _SLOW),
    Way(ASYNC, f"{ASYNC}+{_SLOW}"),
    Way(STAGED, f"log(canonicalise=later)+{_SLOW}"),
    _COPY,
)


@dataclass(frozen=True)
class Case:
    """Samples of 224 x 224 x 3 bytes in gzip chunks of `chunk` of them; 0: no chunks.

    Of `sizes` each is a dataset of twice the bytes of the one before, from 2 MiB on.
    """

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
        if self.kernel == SIZES:
            return f"to-{1 << self.samples}-MiB"
        layout = f"{self.chunk}-a-chunk" if self.chunk else "contiguous"
        ranks = f"{self.ranks}-ranks" if self.ranks > 1 else ""
        return "-".join(filter(None, [self.method, layout, ranks]))

    @property
    def parameters(self) -> Mapping[str, Any]:
        """As results have them."""
        return {
            "chunk": self.chunk, "samples": self.samples, "method": self.method,
            "loaders": self.loaders, "epochs": self.epochs, "batch": self.batch,
            "ranks": self.ranks,
        }  # fmt: skip

    @property
    def ways(self) -> Sequence[Way]:
        """Peers where the work is one that they are made for."""
        if self.kernel == CHECKPOINTS:
            return _STAGING
        peers = _PEERS if self.kernel == LOADERS and self.method == "fork" else ()
        more = {WHOLE: _BOTH, DISK: (_COPY,)}
        return (NATIVE, _CACHE, *peers, *more.get(self.kernel, ()))


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
        *(Case(WHOLE, chunk, samples, epochs=2) for chunk in (1, 16)),
        Case(DISK, 1, samples, epochs=3),
        Case(SIZES, 0, 2 if quick else 10),
        *(Case(CHECKPOINTS, 0, samples // 2, epochs=6, ranks=ranks) for ranks in (1, 2)),
    ]
