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
    from log_layer import Log

KILLS = 12
# Each generation writes columns of its own all over the datasets, reads now and then, and says so
# when all is flushed.
WRITER = """
    import itertools, os, sys, h5py, numpy as np
    with h5py.File(sys.argv[1], "w") as f:
        plist = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        plist.set_alloc_time(h5py.h5d.ALLOC_TIME_EARLY)  # no metadata changes in the loop
        def make(name):
            space = h5py.h5s.create_simple((200, 500))
            return h5py.Dataset(h5py.h5d.create(f.id, name, h5py.h5t.NATIVE_INT32, space, plist))
        d = make(b"d")
        plist.set_chunk((30, 70))
        c = make(b"c")
        f.flush()
        os.write(1, b"0\\n")
        for generation in itertools.count(1):
            for column in range(generation % 7, 500, 7):
                d[:, column] = generation
            c[generation % 3::3, generation % 5::5] = generation
            if generation % 4 == 0:
                assert d[0, generation % 7] == generation
            f.flush()
            os.write(1, b"%d\\n" % generation)
"""
# What one may be in a dataset of a writer that has told of a number of generations.
READER = """
    for kill in range({kills}):
        told = int(open(f"told{{kill}}").read())
        with h5py.File(f"x{{kill}}.h5", "{mode}") as f:
            d, c = f["d"][...], f["c"][...]
        for generation in range(max(1, told - 6), told + 1):
            part = d[:, generation % 7::7]
            assert (part >= generation).all() and (part <= told + 1).all(), (kill, told, generation)
        for generation in range(max(1, told - 14), told + 1):
            part = c[generation % 3::3, generation % 5::5]
            assert (part >= generation).all() and (part <= told + 1).all(), (kill, told, generation)
"""


OPEN = """
    for kill in range({kills}):
        try:
            h5py.File(f"x{{kill}}.h5").close()
        except OSError as error:
            assert "did not close it" in str(error), error
            print(kill)
"""
MARKED = """
    for kill in range({kills}):
        with h5py.File(f"x{{kill}}.h5") as f:
            if len(f.attrs):
                print(kill)
"""


def last_told(lines: bytes) -> int:
    return int(lines[: lines.rindex(b"\n")].rpartition(b"\n")[2])


@pytest.mark.parametrize("options", ["", "canonicalise=later;", "canonicalise=later;sync=true;"])
def test_a_writer_killed_at_random(layer: Log, options: str) -> None:
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
                writer.wait(moments.uniform(0, 0.5))
            except subprocess.TimeoutExpired:
                writer.kill()
            told += writer.stdout.read()
            assert writer.wait() == -9, "it ended by itself"
        (layer.folder / f"told{kill}").write_text(str(last_told(told)))
    assert sum(int((layer.folder / f"told{kill}").read_text()) for kill in range(KILLS)) > KILLS
    assert len(layer.loads) == KILLS
    refused = layer.python(OPEN.format(kills=KILLS), options).out.decode().strip()
    assert refused == layer.plain(MARKED.format(kills=KILLS))
    assert bool(refused) == ("later" in options)
    layer.python(READER.format(kills=KILLS, mode="r"), options + "recover=true;")
    layer.python(READER.format(kills=KILLS, mode="r+"), options + "recover=true;")
    assert layer.plain(READER.format(kills=KILLS, mode="r")) == ""
    assert layer.plain(MARKED.format(kills=KILLS)) == "", "all is in order"
