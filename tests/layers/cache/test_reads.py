"""Whatever is selected, into whatever memory: what the cache gives is what HDF5 gives."""

from __future__ import annotations

import hashlib
from functools import partial

import h5py
import numpy as np
import pytest
from harness.build import sanitized
from harness.stack import stack_env
from layers.cache.node import Cache

pytestmark = pytest.mark.sanitized


def make() -> None:
    rng = np.random.default_rng(1)
    record = np.dtype([("a", "<i4"), ("b", ">f8"), ("c", "S3")])
    with h5py.File("x.h5", "w") as f:

        def add(name: str, data: object, **how: object) -> None:
            f.create_dataset(name, data=data, **how)

        numbers = rng.integers(0, 99, (37, 41))
        add("gzip", numbers, chunks=(5, 8), compression="gzip")
        add("shuffled", numbers.astype(">f4"), chunks=(7, 41), shuffle=True, compression=9)
        add("summed", numbers.astype("u1"), chunks=(37, 3), fletcher32=True, compression="lzf")
        add("line", rng.random(5000), chunks=(100,), compression="gzip")
        add("deep", rng.integers(0, 9, (4, 5, 6, 7)), chunks=(2, 2, 4, 3), compression=1)
        add("records", np.zeros(50, record), chunks=(9,), compression="gzip")
        add("flags", rng.random(300) > 0.5, chunks=(64,), compression="gzip")
        add("bits", numbers, chunks=(5, 8), scaleoffset=8)
        add("plain", numbers, chunks=(5, 8))
        add("whole", np.tile(numbers, (3, 40)))
        add("words", ["one", "two"] * 20, chunks=(8,), compression="gzip")
        how = {"chunks": (10, 10), "compression": 4, "fillvalue": 7}
        holes = f.create_dataset("holes", (40, 40), "i2", **how)
        holes[12:15, 20:35] = 1
        f.create_dataset("nothing", (0, 4), chunks=(2, 2), maxshape=(None, 4), compression=4)
        f["link"] = h5py.SoftLink("/gzip")


def read(seed: int) -> None:
    """Prints what it sees, of the same selections each time."""
    rng = np.random.default_rng(seed)
    f = h5py.File("x.h5", "r")
    for _ in range(150):
        d = f[rng.choice(sorted(f))]
        where: list[object] = []
        for length in d.shape:
            first, last = sorted(rng.integers(0, length + 1, 2))
            where.append(slice(first, last, int(rng.integers(1, 4))))
        if rng.random() < 0.3 and d.shape[0] > 0:
            where[0] = sorted(set(rng.integers(0, d.shape[0], 5).tolist()))
        if d.dtype.kind in "iuf" and rng.random() < 0.3:
            seen = d.astype(rng.choice(["f8", "i8", ">i4"]))[tuple(where)]
        elif rng.random() < 0.2 and len(d.shape) > 0 and d.dtype.kind in "iuf":
            room = np.full((d.shape[0] + 3, *d.shape[1:]), 5, d.dtype)
            d.read_direct(room, np.s_[...], np.s_[2:-1])
            seen = room
        else:
            seen = d[tuple(where)]
        print(
            d.name,
            where,
            hashlib.sha256(seen.tobytes()).hexdigest()[:16]
            if seen.dtype.kind != "O"
            else seen.tolist(),
        )


def test_reads_are_those_of_hdf5(cache: Cache) -> None:
    cache.plain(make)
    for seed in range(4):
        expected = cache.plain(partial(read, seed))
        for _ in range(2):
            assert cache.python(partial(read, seed)).out.decode().strip() == expected
    assert cache.counted("chunks_cached") > 100
    assert cache.counted("cache_hits") > 1000
    assert cache.counted("left_for_filters") > 0


def test_reads_of_what_has_no_filters(cache: Cache) -> None:
    """What is read twice is kept, and is what HDF5 gives."""
    cache.plain(make)
    options = cache.usual + "contiguous=true;"
    for seed in range(4):
        expected = cache.plain(partial(read, seed))
        for _ in range(3):
            assert cache.python(partial(read, seed), options).out.decode().strip() == expected
    assert cache.counted("left_for_first_use") > 0
    assert cache.counted("left_for_layout") == 0


ROWS, COLUMNS = 100, 15_000
IN_BLOCK = 8  # rows
BLOCKS = 13
MEASURED = 8  # reads before the layer says whether storage is slow
ALL_KEPT = "memory=1GiB;settle=0;contiguous=true;"  # in slabs that have room for many blocks


def make_contiguous() -> None:
    with h5py.File("x.h5", "w") as f:
        f["long"] = np.arange(ROWS * COLUMNS).reshape(ROWS, COLUMNS)
        f.create_dataset("chunks", data=f["long"], chunks=(IN_BLOCK, COLUMNS))
        f["wide"] = np.arange(3 << 18).reshape(3, 1 << 18)  # rows of two blocks
        f["one"] = 5
        f.create_dataset("never", (5,), "i4", fillvalue=3)


def read_row(dataset: h5py.Dataset, row: int) -> None:
    assert (dataset[row] == np.arange(row * COLUMNS, (row + 1) * COLUMNS)).all()


def read_apart(name: str, rounds: int) -> None:
    """No row lies in the block of the one before, nor in the next."""
    with h5py.File("x.h5", "r") as f:
        for _ in range(rounds):
            for i in range(ROWS):
                read_row(f[name], i * 61 % ROWS)


def read_once() -> None:
    """A row of each block, in no order."""
    with h5py.File("x.h5", "r") as f:
        for i in range(BLOCKS):
            read_row(f["long"], i * 5 % BLOCKS * IN_BLOCK)


def read_in_order() -> None:
    with h5py.File("x.h5", "r") as f:
        for _ in range(3):
            for name in ("long", "chunks"):
                for row in range(ROWS):
                    read_row(f[name], row)
                assert (f[name][...].ravel() == np.arange(ROWS * COLUMNS)).all()
            for row in range(3):
                first = row << 18
                assert (f["wide"][row, 5:-5] == np.arange(first + 5, first + (1 << 18) - 5)).all()
            assert f["one"][()] == 5
            assert (f["never"][...] == 3).all()


@pytest.mark.parametrize("name", ["long", "chunks"])
def test_rows_without_filters_are_kept_at_their_second_use(cache: Cache, name: str) -> None:
    cache.plain(make_contiguous)
    if name == "long":
        cache.python(partial(read_apart, name, 2))
        assert cache.counted("left_for_layout") == 2 * ROWS
    cache.python(partial(read_apart, name, 2), ALL_KEPT)
    left = cache.counted("left_for_first_use")
    assert MEASURED <= left <= BLOCKS  # where reads are found to be slow some are kept at once
    assert cache.counted("chunks_cached") == BLOCKS
    assert cache.counted("cache_hits") == 2 * ROWS - BLOCKS - left
    cache.python(partial(read_apart, name, 1), ALL_KEPT)
    assert cache.counted("chunks_cached") == BLOCKS


def test_what_has_no_filters_and_is_read_in_order_is_left_to_hdf5(cache: Cache) -> None:
    cache.plain(make_contiguous)
    cache.python(read_in_order, cache.usual + "contiguous=true;")
    assert cache.counted("chunks_cached") <= 6  # where reading of three datasets begins anew
    assert cache.counted("left_for_order") > 3 * ROWS


def test_storage_that_is_slow_is_read_once(cache: Cache) -> None:
    cache.plain(make_contiguous)
    spec = "cache(memory=1GiB,settle=0,contiguous=true),model(mode=delay,preset=none,latency=5ms)"
    environ = stack_env(spec, cache.folder / "report", HEADRACE_SHARED=str(cache.shared))
    assert cache.begin(read_once, sanitized(environ)).wait(60) == 0
    assert cache.counted("left_for_first_use") == 8  # by which the storage is known
    assert cache.counted("chunks_cached") == BLOCKS - 8


def read_all() -> None:
    with h5py.File("x.h5", "r") as f:
        for name in ("gzip", "line", "deep"):
            print(int(f[name][...].sum()))


def read_bits() -> None:
    numbers = np.random.default_rng(1).integers(0, 99, (37, 41))
    with h5py.File("x.h5", "r") as f:
        for _ in range(2):
            for row in range(37):
                assert (f["bits"][row] == numbers[row]).all()


def test_filters_of_hdf5_alone_are_left_to_it_once_a_chunk(cache: Cache) -> None:
    cache.plain(make)
    cache.python(read_bits)
    assert cache.counted("chunks_cached") == 8 * 6
    assert cache.counted("cache_hits") == 2 * 37 * 6 - 48


def test_a_corrupt_chunk_is_an_error_as_natively(cache: Cache) -> None:
    cache.plain(make)
    cache.damage("gzip", 3)
    for _ in range(2):
        done = cache.start(read_all)
        assert done.status != 0
        assert "OSError" in done.text


def test_a_file_that_is_open_for_writing_is_left_to_hdf5(cache: Cache) -> None:
    def write_and_read() -> None:
        with h5py.File("x.h5", "r+") as f:
            print(int(f["gzip"][...].sum()))
            f["gzip"][3] = 0
            print(int(f["gzip"][...].sum()))
            with h5py.File("x.h5", "r") as g:
                print(int(g["gzip"][...].sum()))
                f["gzip"][4] = 0
                print(int(g["gzip"][...].sum()))

    cache.plain(make)
    before = (cache.folder / "x.h5").read_bytes()
    expected = cache.plain(write_and_read)
    (cache.folder / "x.h5").write_bytes(before)
    cache.python(read_all)  # has it in memory
    assert cache.python(write_and_read).out.decode().strip() == expected
    assert cache.counted("left_for_file") > 0


def test_a_dataset_that_outlives_its_file_object(cache: Cache) -> None:
    def read_after() -> None:
        d = h5py.File("x.h5", "r")["gzip"]
        print(int(d[...].sum()))
        with h5py.File("x.h5", "r") as f:
            f["gzip"].file.close()  # by another handle
        assert not f

    cache.plain(make)
    for _ in range(2):
        cache.python(read_after)
    assert cache.counted("cache_hits") == cache.counted("chunks_cached") > 0


def test_behind_links_and_mounts_lie_other_files(cache: Cache) -> None:
    def make_two() -> None:
        for name, value in (("x.h5", 1), ("y.h5", 2)):
            with h5py.File(name, "w") as f:
                f.create_dataset("d", data=np.full(1000, value), chunks=(100,), compression="gzip")
                f["other"] = h5py.ExternalLink("y.h5", "/d")
                f.create_group("at")

    def read_both() -> None:
        with h5py.File("x.h5", "r") as f, h5py.File("y.h5", "r") as g:
            print(f["d"][:].sum(), f["other"][:].sum(), g["d"][:].sum())

    cache.plain(make_two)
    for _ in range(2):
        assert cache.python(read_both).out.decode().split() == ["1000", "2000", "2000"]
    assert cache.counted("left_for_other_file") == 2
    assert cache.counted("cache_hits") > 0
