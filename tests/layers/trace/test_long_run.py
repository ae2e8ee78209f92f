"""A long run takes no more memory than a short one, and few bytes a call."""

from __future__ import annotations

from functools import partial

import h5py
import numpy as np
import pytest
from harness.memory import peak
from layers.trace.conftest import Traced

from headrace.trace.model.segments import CALLS, segments

MOST = 16 << 20  # bytes of memory
EACH = 12.0  # bytes of the trace


def read_again_and_again(calls: int) -> None:
    """A dataset here and there, by the quickest calls that there are in Python."""
    f = h5py.File("x.h5", "w")
    d = f.create_dataset("x", (1 << 16,), "f8")
    d[...] = 1
    memory, value = h5py.h5s.create_simple((1,)), np.zeros(1)
    spaces = [h5py.h5s.create_simple(d.shape) for _ in range(1000)]
    for i, space in enumerate(spaces):
        space.select_hyperslab((i * 37 % 65536,), (1,))
    read = d.id.read
    for i in range(calls // 2):  # of which each asks for the dataset's space, too
        read(memory, spaces[i % 1000], value)
    print(peak())


@pytest.mark.plain
@pytest.mark.parametrize(
    "calls", [300_000, pytest.param(10_000_000, marks=pytest.mark.long)], ids=str
)
def test_long_runs_take_little(calls: int, layer: Traced) -> None:
    alone = int(layer.plain(partial(read_again_and_again, 1000)))
    done = layer.python(partial(read_again_and_again, calls), limit=600)
    added = int(done.out) - alone
    (file,) = layer.output.iterdir()
    rows = sum(each.rows for each in segments(file.read_bytes()) if each.table == CALLS)
    size = file.stat().st_size
    print(f"{added >> 10} KiB of memory; {size} bytes of {rows} calls, {size / rows:.2f} each")
    assert rows > calls
    assert added < MOST
    assert size / rows < EACH
