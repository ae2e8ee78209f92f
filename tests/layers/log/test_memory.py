"""A long run takes no more memory than a short one."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import h5py
import numpy as np
import pytest
from harness.memory import peak

import headrace

if TYPE_CHECKING:
    from harness.layer import Layer

pytestmark = pytest.mark.plain
BUDGET = 4 << 20
AT_ONCE = 24 << 20  # put in order by pieces of 16 MiB, each with its selection


def print_growth(calls: int) -> None:
    """Of a run that writes rows of 64 bytes all over a dataset.

    No two writes are alike, so that telling where they belong takes a third of what they hold.
    """
    chance = np.random.default_rng(1)
    count = np.tile([1, 16], (2000, 1))
    with h5py.File("x.h5", "w") as f:
        d = f.create_dataset("d", (4096, 1024), "f4")
        e = f.create_dataset("e", (4096, 1024), "f4", chunks=(64, 64))
        for k in range(calls):
            start = np.stack([chance.integers(0, 4096, 2000), chance.integers(0, 1008, 2000)], 1)
            values = np.full(2000 * 16, k, "f4")
            headrace.write_n(d if k % 2 else e, start, count, values)
            if k == 4:
                before = peak()
    print(peak() - before)


def read(calls: int) -> None:
    """Each element is of the last write to it."""
    chance = np.random.default_rng(1)
    expected = np.zeros((2, 4096 * 1024), "f4")
    for k in range(calls):
        first = chance.integers(0, 4096, 2000) * 1024 + chance.integers(0, 1008, 2000)
        expected[k % 2][first[:, None] + np.arange(16)] = k
    with h5py.File("x.h5") as f:
        for which, name in enumerate("ed"):
            assert np.array_equal(f[name][...].ravel(), expected[which]), name


@pytest.mark.share(1)
@pytest.mark.parametrize("options", ["", "canonicalise=later;"])
def test_a_run_of_twenty_times_the_budget(layer: Layer, options: str) -> None:
    calls = 20 * BUDGET // (2000 * 64)
    done = layer.python(partial(print_growth, calls), f"budget={BUDGET};{options}", limit=500)
    assert layer.counted("logged_bytes") == calls * 2000 * 64
    grown = int(done.out)
    assert grown < 2 * BUDGET + AT_ONCE, f"{grown >> 20} MiB"
    if options:
        layer.python("h5py.File('x.h5', 'r+').close()", limit=500)
    layer.plain(partial(read, calls))
