"""A writer that is killed at any moment has lost nothing that a flush covered."""

from __future__ import annotations

import itertools
from functools import partial
from typing import TYPE_CHECKING

import h5py
import pytest
from harness.kill import allocated, killed_writers, tell

if TYPE_CHECKING:
    from harness.layer import Layer


def write_generations(name: str) -> None:
    """Each writes pieces of its own all over the dataset, of which no page is filled by one."""
    with h5py.File(name, "w") as f:
        d = allocated(f, "d", (200, 5000))
        f.flush()
        tell(0)
        for generation in itertools.count(1):
            first = 20 * (generation % 250)
            for row in range(generation % 7, 200, 7):
                d[row, first : first + 20] = generation
            f.flush()
            tell(generation)


def assert_told(told: list[int]) -> None:
    for kill, last in enumerate(told):
        with h5py.File(f"x{kill}.h5") as f:
            found = f["d"][...]
        for generation in range(max(1, last - 200), last + 1):
            part = found[generation % 7 :: 7, 20 * (generation % 250) :][:, :20]
            assert (part >= generation).all(), (kill, last, generation)
            assert (part <= last + 1).all(), (kill, last, generation)


@pytest.mark.parametrize("options", ["", "budget=512KiB;flush_interval=1ms;threads=1;"])
def test_a_writer_killed_at_random(layer: Layer, options: str) -> None:
    told = killed_writers(layer, write_generations, options)
    assert layer.plain(partial(assert_told, told)) == ""
