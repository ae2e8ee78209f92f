"""Where a program goes forward, the next chunks are decoded before it asks for them."""

from __future__ import annotations

import os
from functools import partial

import h5py
import numpy as np
import pytest
from layers.cache.node import Cache

import headrace
from headrace.operations.calls import CallError
from headrace.operations.operate import ON_DATASET, operate
from headrace.operations.take import EXPECT, Expected

pytestmark = pytest.mark.sanitized

CHUNKS = 60
ROWS = 4  # of a chunk
COLUMNS = 500


def make() -> None:
    data = np.arange(CHUNKS * ROWS * COLUMNS).reshape(-1, COLUMNS)
    with h5py.File("x.h5", "w") as f:
        how = {"chunks": (ROWS, COLUMNS), "compression": "gzip", "shuffle": True}
        f.create_dataset("d", data=data, **how)
        holes = f.create_dataset("holes", data.shape, data.dtype, fillvalue=7, **how)
        for chunk in range(0, CHUNKS, 3):
            holes[chunk * ROWS] = 1
        f.create_dataset("halves", data=data, chunks=(ROWS, COLUMNS // 2), compression="gzip")


def read(name: str, first: int, last: int, step: int = 1, rows: int = 1) -> None:
    """Opens the dataset each time, as many scripts do."""
    with h5py.File("x.h5", "r") as f:
        for row in range(first, last, step):
            seen = f[name][row : row + rows].ravel()
            begin = row * COLUMNS
            assert (seen == np.arange(begin, begin + rows * COLUMNS)).all(), row


def test_rows_in_order(cache: Cache) -> None:
    cache.plain(make)
    cache.python(partial(read, "d", 0, CHUNKS * ROWS))
    assert cache.counted("chunks_cached") == CHUNKS
    assert cache.counted("cache_hits") >= CHUNKS * ROWS - 4


def test_some_rows_of_each_call(cache: Cache) -> None:
    cache.plain(make)
    cache.python(partial(read, "halves", 0, CHUNKS * ROWS, 8, 8))
    assert cache.counted("chunks_cached") == 2 * CHUNKS
    assert cache.counted("cache_hits") > CHUNKS


def test_steps_decode_what_is_read(cache: Cache) -> None:
    cache.plain(make)
    cache.python(partial(read, "d", 0, CHUNKS * ROWS, 3 * ROWS))
    assert CHUNKS / 3 <= cache.counted("chunks_cached") <= CHUNKS / 3 + 4
    assert cache.counted("cache_hits") >= CHUNKS / 3 - 6


def test_no_order_decodes_what_is_read(cache: Cache) -> None:
    def read_some() -> None:
        order = np.random.default_rng(3).permutation(CHUNKS)[:20]
        with h5py.File("x.h5", "r") as f:
            for chunk in order:
                f["d"][int(chunk) * ROWS]

    cache.plain(make)
    cache.python(read_some)
    assert cache.counted("chunks_cached") == 20


def test_regions_decode_what_is_read(cache: Cache) -> None:
    """Of each row of chunks one: the others between them are not wanted."""

    def read_columns() -> None:
        with h5py.File("x.h5", "r") as f:
            for row in range(0, CHUNKS * ROWS, 5 * ROWS):
                seen = f["halves"][row : row + 5 * ROWS, :7]
                assert (seen[:, 0] == COLUMNS * np.arange(row, row + 5 * ROWS)).all()

    cache.plain(make)
    cache.python(read_columns)
    assert cache.counted("chunks_cached") == CHUNKS


def test_what_was_never_written(cache: Cache) -> None:
    def read_holes() -> None:
        with h5py.File("x.h5", "r") as f:
            for row in range(CHUNKS * ROWS):
                written = row % (3 * ROWS) == 0
                assert (f["holes"][row] == (1 if written else 7)).all(), row

    cache.plain(make)
    cache.python(read_holes)
    assert cache.counted("chunks_cached") == CHUNKS / 3


def test_a_corrupt_chunk_is_an_error_when_it_is_asked_for(cache: Cache) -> None:
    cache.plain(make)
    cache.damage("d", 20)
    cache.python(partial(read, "d", 0, 20 * ROWS))
    assert "OSError" in cache.start(partial(read, "d", 0, 20 * ROWS + 1)).text
    cache.python(partial(read, "d", 21 * ROWS, CHUNKS * ROWS))


def test_a_fork_in_the_midst(cache: Cache) -> None:
    def read_in_both() -> None:
        f = h5py.File("x.h5", "r")
        for row in range(CHUNKS * ROWS):
            begin = row * COLUMNS
            assert (f["d"][row] == np.arange(begin, begin + COLUMNS)).all()
            if row == 30:
                child = os.fork()
        if child == 0:
            f.close()
            os._exit(0)
        assert os.waitpid(child, 0)[1] == 0

    cache.plain(make)
    cache.python(read_in_both)


def test_several_datasets_by_turns(cache: Cache) -> None:
    def read_by_turns() -> None:
        with h5py.File("x.h5", "r") as f:
            d, halves = f["d"], f["halves"]
            for row in range(CHUNKS * ROWS):
                assert (d[row] == halves[row]).all()

    cache.plain(make)
    cache.python(read_by_turns)
    assert cache.counted("chunks_cached") == 3 * CHUNKS
    assert cache.counted("cache_hits") >= 3 * CHUNKS * ROWS - 12


@pytest.mark.parametrize("name", ["d", "halves"])
def test_what_take_will_read(cache: Cache, name: str) -> None:
    """In no order that could be guessed: workers have begun with what the next calls want."""

    def take(name: str) -> None:
        rows = np.random.default_rng(3).permutation(CHUNKS * ROWS)[:40]
        with h5py.File("x.h5", "r") as f:
            found = headrace.take(f[name], rows)
            assert (found == COLUMNS * rows[:, None] + np.arange(COLUMNS)).all()
        print(len(set((rows // ROWS).tolist())))

    cache.plain(make)
    chunks = int(cache.python(partial(take, name)).out) * (2 if name == "halves" else 1)
    assert cache.counted("chunks_cached") == chunks, "each once, and no others"
    assert cache.counted("cache_hits") >= chunks / 2


def test_an_order_that_is_not_followed(cache: Cache) -> None:
    """What is read comes from the file all the same; numbers that no chunk has are refused."""

    def expect() -> None:
        with h5py.File("x.h5", "r") as f:
            order = np.array([50, 3, 3, 7], np.uint64)
            assert operate(f["d"], ON_DATASET, EXPECT, Expected.of(order))
            for row in (28, 0, 12, 200):
                assert (f["d"][row] == row * COLUMNS + np.arange(COLUMNS)).all()
            try:
                operate(f["d"], ON_DATASET, EXPECT, Expected.of(np.array([CHUNKS], np.uint64)))
            except CallError as error:
                assert "has no chunk of a number" in str(error)  # noqa: PT017, in a program
            else:
                raise AssertionError

    cache.plain(make)
    cache.python(expect)
