"""Datasets with far more elements than are written."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import h5py
import numpy as np
import pytest

import headrace

if TYPE_CHECKING:
    from harness.layer import Layer

MODES = pytest.mark.parametrize("options", ["", "canonicalise=later;"])
REPLAY = "h5py.File('x.h5', 'r+').close()"


def write_far_apart() -> None:
    with h5py.File("x.h5", "w") as f:
        d = f.create_dataset("d", (2, 2**44, 3), "i4", chunks=(1, 512, 2))
        d[:, 5:9:2, 1] = 7
        d[1, 2**44 - 9 :: 2, 0] = 8
        d[:, 2**43 :: 2**42, 2] = 9


def read_far_apart() -> None:
    d = h5py.File("x.h5")["d"]
    assert (d[:, :10, 1] == [[0, 0, 0, 0, 0, 7, 0, 7, 0, 0]]).all()
    assert (d[1, -10:, 0] == [0, 8] * 5).all()
    assert not d[0, -10:].any()
    assert all((d[:, at, 2] == 9).all() for at in (2**43, 2**43 + 2**42))


@MODES
def test_few_that_are_far_apart(layer: Layer, options: str) -> None:
    """A look at each chunk in between would take days."""
    layer.python(write_far_apart, options)
    assert layer.counted("writes_logged") == 3
    layer.python(REPLAY, options)
    layer.plain(read_far_apart)


def write_large(name: str, *, reads: bool) -> None:
    with h5py.File(name, "w") as f:
        options = {"chunks": (1, 2**20), "compression": 1, "maxshape": (None, 2**33)}
        large = f.create_dataset("large", (2**31 + 1, 2**33), "u1", **options)
        grown = f.create_dataset("grown", (4, 2**33), "u1", **options)
        grown[0, 0:10:3] = 5
        grown.resize((2**31 + 2, 2**33))
        for d in large, grown:
            d[2**31, 0:5] = range(1, 6)
            d[1, 0:4:2] = 1
            if reads:
                assert d[2**31, :6].tolist() == [1, 2, 3, 4, 5, 0]
        headrace.write_n(large, [[0, 0], [2**31, 8]], [[1, 2]] * 2, np.arange(4, dtype="u1"))


def compare_with_native() -> None:
    a, b = h5py.File("native.h5"), h5py.File("x.h5")
    for name in "large", "grown":
        for row in 0, 1, 2**31:
            assert (a[name][row, :20] == b[name][row, :20]).all(), (name, row)
    assert a["grown"][0, :4].tolist() == [5, 0, 0, 5]


@MODES
def test_more_than_64_bits_number(layer: Layer, options: str) -> None:
    """HDF5 has the same numbers for two elements of such a dataset, and writes it itself."""
    layer.plain(partial(write_large, "native.h5", reads=True))
    layer.python(partial(write_large, "x.h5", reads=not options), options)
    layer.python(REPLAY, options)
    layer.plain(compare_with_native)
