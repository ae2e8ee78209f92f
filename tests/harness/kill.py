"""Writers that are killed at any moment: what they told before must be in their files."""

from __future__ import annotations

import os
import random
import select
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import partial

import h5py

from harness.layer import Layer
from harness.program import text_of
from harness.seed import LONG, SEED

KILLS = 40 if LONG else 4


def tell(generation: int) -> None:
    """By a writer: all up to that generation is flushed. The first one is 0, before any data."""
    os.write(1, b"%d\n" % generation)


def allocated(
    f: h5py.File, name: str, shape: tuple[int, ...], chunks: tuple[int, ...] | None = None
) -> h5py.Dataset:
    """By a writer: a dataset whose metadata does not change when data is written."""
    plist = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    plist.set_alloc_time(h5py.h5d.ALLOC_TIME_EARLY)
    if chunks is not None:
        plist.set_chunk(chunks)
    space = h5py.h5s.create_simple(shape)
    return h5py.Dataset(h5py.h5d.create(f.id, name.encode(), h5py.h5t.NATIVE_INT32, space, plist))


def killed_writers(layer: Layer, write: Callable[[str], None], options: str) -> list[int]:
    """Which wrote x0.h5, x1.h5 and so on: the last generation that each has told."""
    moments = random.Random(SEED)  # noqa: S311
    told = []
    for kill in range(KILLS):
        with subprocess.Popen(
            [sys.executable, "-c", text_of(partial(write, f"x{kill}.h5"))],
            env=layer.env(options),
            cwd=layer.folder,
            stdout=subprocess.PIPE,
        ) as writer:
            assert writer.stdout is not None
            try:
                assert select.select([writer.stdout], [], [], 60)[0], "nothing was flushed"
                lines = os.read(writer.stdout.fileno(), 1 << 16)
                with suppress(subprocess.TimeoutExpired):
                    writer.wait(moments.uniform(0, 0.5))
            finally:
                writer.kill()
            lines += writer.stdout.read()
            assert writer.wait() == -9, "it ended by itself"
        told.append(int(lines[: lines.rindex(b"\n")].rpartition(b"\n")[2]))
    assert sum(told) > KILLS, "they were killed before they had begun"
    assert len(layer.loads) == KILLS * len(layer.seats)
    return told
