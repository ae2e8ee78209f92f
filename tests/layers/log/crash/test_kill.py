"""A writer that is killed at any moment has lost nothing that a flush covered."""

from __future__ import annotations

import itertools
from functools import partial
from typing import TYPE_CHECKING

import h5py
import pytest
from harness.kill import KILLS, allocated, killed_writers, tell

if TYPE_CHECKING:
    from harness.layer import Layer


def write_generations(name: str) -> None:
    """Each writes columns of its own all over the datasets, and reads now and then."""
    with h5py.File(name, "w") as f:
        d = allocated(f, "d", (200, 500))
        c = allocated(f, "c", (200, 500), (30, 70))
        f.flush()
        tell(0)
        for generation in itertools.count(1):
            for column in range(generation % 7, 500, 7):
                d[:, column] = generation
            c[generation % 3 :: 3, generation % 5 :: 5] = generation
            if generation % 4 == 0:
                assert d[0, generation % 7] == generation
            f.flush()
            tell(generation)


def print_refused() -> None:
    for kill in range(KILLS):
        try:
            h5py.File(f"x{kill}.h5").close()
        except OSError as error:
            if "did not close it" not in str(error):
                raise
            print(kill)


def print_marked() -> None:
    for kill in range(KILLS):
        with h5py.File(f"x{kill}.h5") as f:
            if len(f.attrs):
                print(kill)


def assert_told(told: list[int], mode: str) -> None:
    for kill, last in enumerate(told):
        with h5py.File(f"x{kill}.h5", mode) as f:
            d, c = f["d"][...], f["c"][...]
        for generation in range(max(1, last - 6), last + 1):
            part = d[:, generation % 7 :: 7]
            assert (part >= generation).all(), (kill, last, generation)
            assert (part <= last + 1).all(), (kill, last, generation)
        for generation in range(max(1, last - 14), last + 1):
            part = c[generation % 3 :: 3, generation % 5 :: 5]
            assert (part >= generation).all(), (kill, last, generation)
            assert (part <= last + 1).all(), (kill, last, generation)


@pytest.mark.share(2)
@pytest.mark.parametrize("options", ["", "canonicalise=later;", "canonicalise=later;sync=true;"])
def test_a_writer_killed_at_random(layer: Layer, options: str) -> None:
    told = killed_writers(layer, write_generations, options)
    refused = layer.python(print_refused, options).out.decode().strip()
    assert refused == layer.plain(print_marked)
    assert bool(refused) == ("later" in options)
    layer.python(partial(assert_told, told, "r"), options + "recover=true;")
    layer.python(partial(assert_told, told, "r+"), options + "recover=true;")
    assert layer.plain(partial(assert_told, told, "r")) == ""
    assert layer.plain(print_marked) == "", "all is in order"
