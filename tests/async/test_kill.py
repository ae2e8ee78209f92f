"""A writer that is killed at any moment has lost nothing that a flush covered."""

from __future__ import annotations

import os
import random
import select
import subprocess
import sys
import textwrap
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from async_layer import Async

KILLS = 12
# Each generation writes pieces of its own all over the dataset, of which no page is filled by one,
# and says so when they are flushed. The file's metadata does not change meanwhile.
WRITER = """
    import itertools, os, sys, h5py, numpy as np
    with h5py.File(sys.argv[1], "w") as f:
        plist = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        plist.set_alloc_time(h5py.h5d.ALLOC_TIME_EARLY)
        d = h5py.Dataset(h5py.h5d.create(f.id, b"d", h5py.h5t.NATIVE_INT32,
                                         h5py.h5s.create_simple((200, 5000)), plist))
        f.flush()
        os.write(1, b"0\\n")
        for generation in itertools.count(1):
            for row in range(generation % 7, 200, 7):
                d[row, 20 * (generation % 250):20 * (generation % 250) + 20] = generation
            f.flush()
            os.write(1, b"%d\\n" % generation)
"""
READER = f"""
    for kill in range({KILLS}):
        told = int(open(f"told{{kill}}").read())
        with h5py.File(f"x{{kill}}.h5") as f:
            found = f["d"][...]
        for generation in range(max(1, told - 200), told + 1):
            part = found[generation % 7::7, 20 * (generation % 250):][:, :20]
            assert (part >= generation).all(), (kill, told, generation)
            assert (part <= told + 1).all(), (kill, told, generation)
"""


def last_told(lines: bytes) -> int:
    return int(lines[: lines.rindex(b"\n")].rpartition(b"\n")[2])


@pytest.mark.parametrize("options", ["", "budget=512KiB;flush_interval=1ms;threads=1;"])
def test_a_writer_killed_at_random(layer: Async, options: str) -> None:
    moments = random.Random(5)  # noqa: S311
    for kill in range(KILLS):
        with subprocess.Popen(
            [sys.executable, "-c", textwrap.dedent(WRITER), f"x{kill}.h5"],
            env=layer.env(options),
            cwd=layer.folder,
            stdout=subprocess.PIPE,
        ) as writer:
            assert writer.stdout is not None
            assert select.select([writer.stdout], [], [], 60)[0], "nothing was flushed"
            told = os.read(writer.stdout.fileno(), 1 << 16)
            try:
                writer.wait(moments.uniform(0, 0.3))
            except subprocess.TimeoutExpired:
                writer.kill()
            told += writer.stdout.read()
            assert writer.wait() == -9, "it ended by itself"
        (layer.folder / f"told{kill}").write_text(str(last_told(told)))
    assert layer.plain(READER) == ""
    loads = [event for event in layer.report if event["event"] == "load"]
    assert len(loads) == 2 * KILLS
