"""Many processes that read more than the memory holds: all is right, and it holds no more."""

from __future__ import annotations

import os
import sys
from functools import partial
from pathlib import Path

import h5py
import numpy as np
from layers.cache.node import Cache

from headrace.cache.store import Store, read_store

PROCESSES = 16
MEMORY = 4224 << 10  # all of which slabs take
LENGTH = 1 << 20
# Elements of a chunk: of several classes, which take slabs from each other and fill them.
CHUNKS = {"small": 512, "middle": 4096, "large": 16_384}


def make(folder: Path) -> None:
    """24 MiB in all. What stands in a place tells the place."""
    with h5py.File(folder / "x.h5", "w") as f:
        for number, (name, chunk) in enumerate(CHUNKS.items()):
            data = np.arange(LENGTH) * 3 + number
            f.create_dataset(name, data=data, chunks=(chunk,), compression=1)


def read_at_random(seed: int, reads: int) -> None:
    rng = np.random.default_rng(seed)
    with h5py.File("x.h5", "r") as f:
        for _ in range(reads):
            number = int(rng.integers(len(CHUNKS)))
            first = int(rng.integers(LENGTH))
            last = min(first + int(rng.integers(1, 4000)), LENGTH)
            seen = f[list(CHUNKS)[number]][first:last]
            assert (seen == np.arange(first, last) * 3 + number).all(), (number, first, last)


def read_in_processes(reads: int) -> None:
    children = []
    for seed in range(PROCESSES):
        child = os.fork()
        if child == 0:
            read_at_random(seed, reads)
            sys.exit(0)
        children.append(child)
    assert [os.waitpid(child, 0)[1] for child in children] == [0] * PROCESSES


def kept(cache: Cache) -> Store:
    found = read_store(cache.shared / "chunks-2")
    assert found is not None
    return found


def test_processes_at_the_bound(cache: Cache) -> None:
    """What `headrace cache ls` tells of the memory is what was asked for at most."""
    make(cache.folder)
    cache.python(partial(read_in_processes, 80), f"memory={MEMORY};settle=0;")
    assert cache.counted("cache_hits") > PROCESSES
    store = kept(cache)
    (one,) = store.files.values()
    assert 0 < one.bytes < cache.counted("cached_bytes") // 2  # much has made room
    assert MEMORY // 2 < store.taken <= MEMORY
    assert one.bytes <= store.bound <= MEMORY
    assert store.taken <= store.bound
