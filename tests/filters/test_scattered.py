"""Selections that are no regular hyperslab: what they read and write is native HDF5's."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import h5py
import numpy as np
import pytest
from harness.seed import SEED

if TYPE_CHECKING:
    from harness.layer import Layer

pytestmark = pytest.mark.sanitized

CODED: dict[str, Any] = {"compression": 4, "shuffle": True}
LAYOUTS: dict[str, dict[str, Any]] = {
    "gzip": {"chunks": (16, 7, 5), **CODED},
    "whole rows": {"chunks": (3, 20, 15), **CODED},
    "large chunks": {"chunks": (60, 20, 15), "maxshape": (None, None, 15), **CODED},
    "chunked": {"chunks": (16, 7, 5)},
    "contiguous": {},
}
SHAPE = (50, 20, 15)


def union(rng: np.random.Generator) -> tuple[h5py.h5s.SpaceID, np.ndarray]:
    """Blocks that may overlap, in any order; and which elements that are, in HDF5's order."""
    space = h5py.h5s.create_simple(SHAPE)
    space.select_none()
    where = np.zeros(SHAPE, bool)
    whole = rng.random() < 0.3
    for _ in range(rng.integers(2, 30)):
        start = [int(rng.integers(0, n)) for n in SHAPE]
        count = [int(rng.integers(1, n - s + 1)) for n, s in zip(SHAPE, start, strict=True)]
        if whole:  # as loaders read samples
            start[1:], count = [0, 0], [1, *SHAPE[1:]]
        space.select_hyperslab(tuple(start), tuple(count), op=h5py.h5s.SELECT_OR)
        where[tuple(slice(s, s + n) for s, n in zip(start, count, strict=True))] = True
    return space, np.flatnonzero(where)


def strided(rng: np.random.Generator) -> tuple[h5py.h5s.SpaceID, np.ndarray]:
    """Every so many elements of each dimension, or blocks of some."""
    start = [int(rng.integers(0, n)) for n in SHAPE]
    step = [int(rng.integers(1, 1 + n // 2)) for n in SHAPE]
    block = [int(rng.integers(1, s + 1)) if rng.random() < 0.3 else 1 for s in step]
    block = [min(b, n - s) for b, n, s in zip(block, SHAPE, start, strict=True)]
    most = [(n - s - b) // t + 1 for n, s, b, t in zip(SHAPE, start, block, step, strict=True)]
    count = [int(rng.integers(1, m + 1)) for m in most]
    space = h5py.h5s.create_simple(SHAPE)
    space.select_hyperslab(tuple(start), tuple(count), tuple(step), tuple(block))
    places = [
        (s + t * np.arange(c)[:, None] + np.arange(b)).ravel()
        for s, t, c, b in zip(start, step, count, block, strict=True)
    ]
    where = np.zeros(SHAPE, bool)
    where[np.ix_(*places)] = True
    return space, np.flatnonzero(where)


def points(rng: np.random.Generator) -> tuple[h5py.h5s.SpaceID, np.ndarray]:
    """In order or not, some of them twice."""
    some = rng.integers(0, np.prod(SHAPE), rng.integers(2, 300))
    if rng.random() < 0.3:
        some.sort()
    space = h5py.h5s.create_simple(SHAPE)
    space.select_elements(np.column_stack(np.unravel_index(some, SHAPE)).astype("u8"))
    return space, some


def memory(rng: np.random.Generator, count: int) -> tuple[h5py.h5s.SpaceID, np.ndarray]:
    """Of a buffer, and which elements of it: all, some by points, or every third."""
    kind = rng.integers(0, 3)
    every = np.arange(count)
    if kind == 0:
        return h5py.h5s.create_simple((count,)), every
    space = h5py.h5s.create_simple((3 * count,))
    if kind == 1:
        every = rng.permutation(3 * count)[:count]
        space.select_elements(every[:, None].astype("u8"))
        return space, every
    space.select_hyperslab((1,), (count,), (3,))
    return space, 3 * every + 1


def read_and_write(layout: dict[str, Any], seed: int, rounds: int) -> None:
    rng = np.random.default_rng(seed)
    with h5py.File("x.h5", "w") as f:
        expected = rng.integers(0, 1000, SHAPE).astype("i4")
        d = f.create_dataset("d", SHAPE, "i4", fillvalue=-1, **layout)
        d[:40] = expected[:40]
        expected[40:] = -1
        for _ in range(rounds):
            space, elements = (union, points, strided)[rng.integers(0, 3)](rng)
            inside, places = memory(rng, len(elements))
            kind = ("i4", "i8", "f4")[rng.integers(0, 3)]
            size = inside.get_simple_extent_npoints()
            if rng.random() < 0.4:
                values = rng.integers(0, 1000, size).astype(kind)
                d.id.write(inside, space, values)
                # HDF5 carries out the later of two at the same place last.
                for element, value in zip(elements, values[places], strict=True):
                    expected.reshape(-1)[element] = value
            buffer = np.full(size, 7, kind)
            after = buffer.copy()
            after[places] = expected.reshape(-1)[elements]
            d.id.read(inside, space, buffer)
            assert (buffer == after).all(), (kind, len(elements))
        assert (d[...] == expected).all()
    np.save("expected.npy", expected)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_what_is_scattered(filters: Layer, layout: str) -> None:
    filters.python(partial(read_and_write, LAYOUTS[layout], SEED, 60))
    assert filters.counted("scattered_calls") > 10
    filters.plain("assert (h5py.File('x.h5')['d'][...] == np.load('expected.npy')).all()")


def read_lists(small: bool) -> None:
    samples = np.random.default_rng(3).integers(0, 9, (64, 30, 20), "u1")
    with h5py.File("x.h5", "w") as f:
        f.create_dataset("d", data=samples, chunks=(1, 30, 20), compression=1)
    with h5py.File("x.h5", rdcc_nbytes=2**26 if small else None) as f:
        for _ in range(3):
            assert (f["d"][[3, 17, 40, 41]] == samples[[3, 17, 40, 41]]).all()


def test_a_list_of_samples_decodes_each_once(filters: Layer) -> None:
    filters.python(partial(read_lists, small=False))
    assert filters.counted("chunks_decoded") == 4
    assert filters.counted("scattered_calls") == 3
    assert filters.counted("calls_left_to_hdf5") == 0


def test_chunks_that_cannot_be_kept_are_left_to_hdf5(filters: Layer) -> None:
    filters.python(partial(read_lists, small=True), "chunk_cache=1MiB;")
    assert filters.counted("scattered_calls") == 0


def read_what_is_not_filled() -> None:
    never = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    never.set_fill_time(h5py.h5d.FILL_TIME_NEVER)
    never.set_chunk((100,))
    f = h5py.File("x.h5", "w")
    space = h5py.h5s.create_simple((400,))
    d = h5py.Dataset(h5py.h5d.create(f.id, b"d", h5py.h5t.NATIVE_INT32, space, never))
    d[:100] = np.arange(100)
    space.select_elements(np.array([[310], [305], [50]], "u8"))
    buffer = np.full(3, 77, "i4")
    d.id.read(h5py.h5s.create_simple((3,)), space, buffer)
    assert buffer.tolist() == [77, 77, 50]


def test_memory_stays_where_nothing_was_written(filters: Layer) -> None:
    filters.python(read_what_is_not_filled)


def read_and_write_every_other() -> None:
    values = np.arange(40_000, dtype="f8").reshape(200, 200)
    with h5py.File("x.h5", "w") as f:
        d = f.create_dataset("d", data=values, chunks=(30, 200), compression=1)
        d[::2] = values[::2] + 0.5
        values[::2] += 0.5
        d[5:150:7, 3::4] = -1
        values[5:150:7, 3::4] = -1
        assert (d[::3, 1::2] == values[::3, 1::2]).all()
        assert (d.astype("f4")[2::5] == values[2::5].astype("f4")).all()
    np.save("expected.npy", values)


def test_every_other_row_is_not_left_to_hdf5(filters: Layer) -> None:
    filters.python(read_and_write_every_other)
    assert filters.counted("calls_left_to_hdf5") == 0
    filters.plain("assert (h5py.File('x.h5')['d'][...] == np.load('expected.npy')).all()")


def write_lists_of_whole_samples() -> None:
    values = np.arange(64 * 600, dtype="f4").reshape(64, 30, 20)
    with h5py.File("x.h5", "w") as f:
        f.create_dataset("d", data=values, chunks=(1, 30, 20), compression=1)
    with h5py.File("x.h5", "r+") as f:
        f["d"][[3, 17, 40, 41]] = values[[30, 31, 32, 33]]
    values[[3, 17, 40, 41]] = values[[30, 31, 32, 33]]
    np.save("expected.npy", values)


def test_chunks_that_a_list_covers_are_not_decoded(filters: Layer) -> None:
    filters.python(write_lists_of_whole_samples)
    assert filters.counted("scattered_calls") == 1
    assert filters.counted("chunks_decoded") == 0
    filters.plain("assert (h5py.File('x.h5')['d'][...] == np.load('expected.npy')).all()")


def write_points_of_a_chunk_twice() -> None:
    with h5py.File("x.h5", "w") as f:
        d = f.create_dataset("d", data=np.arange(20, dtype="i4"), chunks=(4,), compression=1)
        space = h5py.h5s.create_simple((20,))
        space.select_elements(np.array([[4], [5], [5], [6]], "u8"))  # as many as the chunk has
        d.id.write(h5py.h5s.create_simple((4,)), space, np.array([-1, -2, -3, -4], "i4"))
    with h5py.File("x.h5", "r") as f:
        assert f["d"][4:8].tolist() == [-1, -3, -4, 7]


def test_points_that_are_given_twice_cover_no_chunk(filters: Layer) -> None:
    filters.python(write_points_of_a_chunk_twice)
    assert filters.counted("scattered_calls") == 1
