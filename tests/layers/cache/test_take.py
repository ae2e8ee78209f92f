"""headrace.take: what h5py gives for a list, in its order, each chunk read once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest

import headrace

SHAPES = {"chunked": (4, 3), "tall": (37, 2), "contiguous": None}


@pytest.fixture
def file(tmp_path: Path) -> h5py.File:
    with h5py.File(tmp_path / "x.h5", "w") as f:
        for name, chunks in SHAPES.items():
            f.create_dataset(name, data=np.arange(37 * 6).reshape(37, 6), chunks=chunks)
        f["line"] = np.arange(9.0)
        f["none"] = np.empty((0, 2))
        yield f


@pytest.mark.parametrize("name", SHAPES)
def test_rows_are_those_of_the_list(file: h5py.File, name: str) -> None:
    rng = np.random.default_rng(1)
    whole = file[name][...]
    for count in (0, 1, 5, 37, 200):
        rows = rng.integers(-37, 37, count)
        assert (headrace.take(file[name], rows) == whole[rows]).all()
    mask = rng.random(37) > 0.5
    assert (headrace.take(file[name], mask) == whole[mask]).all()
    assert headrace.take(file[name], []).shape == (0, 6)
    assert headrace.take(file["line"], [3, 3, 0]).tolist() == [3, 3, 0]
    assert headrace.take(file["none"], []).shape == (0, 2)


def test_each_chunk_is_read_once(file: h5py.File) -> None:
    class Counting:
        """A dataset that notes what is read of it."""

        def __init__(self, dataset: h5py.Dataset) -> None:
            self.dataset = dataset
            self.shape, self.chunks, self.dtype = dataset.shape, dataset.chunks, dataset.dtype
            self.read: list[int] = []

        def __getitem__(self, rows: slice) -> object:
            first, last = int(rows.start) // self.chunks[0], (int(rows.stop) - 1) // self.chunks[0]
            self.read += range(first, last + 1)
            return self.dataset[rows]

    counting = Counting(file["chunked"])
    headrace.take(counting, [36, 0, 3, 4, 6, 20, 21, 1])
    assert sorted(counting.read) == [0, 1, 5, 9]


@pytest.mark.parametrize("rows", [[37], [-38], [True] * 36, [1.5], [[1]]])
def test_rows_that_are_none(file: h5py.File, rows: Any) -> None:
    with pytest.raises(IndexError):
        headrace.take(file["chunked"], rows)
