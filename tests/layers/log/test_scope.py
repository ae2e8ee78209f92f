"""What a call does not touch stays in the log, and what it touches is found."""

from __future__ import annotations

import ctypes
import shutil
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import h5py
import numpy as np
import pytest
from harness.seed import SEED
from layers.log.program_parts import hdf5_of_h5py

if TYPE_CHECKING:
    from harness.layer import Layer

pytestmark = pytest.mark.sanitized

LATER = "canonicalise=later;"
BOTH = pytest.mark.parametrize("options", ["", LATER])


def begin(name: str = "x.h5") -> tuple[h5py.File, h5py.Dataset, h5py.Dataset]:
    """A dataset for scattered writes, and another one."""
    f = h5py.File(name, "w")
    scattered = f.create_dataset("g/a", (64, 64), "i4", chunks=(16, 16))
    return f, scattered, f.create_dataset("b", (4096,), "i8")


def write_and_touch_others(act: str) -> None:
    other = h5py.File("other.h5", "w")
    d = other.create_dataset("d", (0, 64), "i4", maxshape=(None, 64), chunks=(8, 64))
    links = other.create_group("links")
    f, a, b = begin()
    f.create_dataset("c", (100,), "i2")
    for column in range(64):
        a[:, column] = column
        match act:
            case "write":
                b[...] = column
            case "read":
                assert (f["c"][:16] == 0).all()
            case "ask":
                assert f["b"].id.get_storage_size() == 0
            case "append":
                d.resize(column + 1, 0)
                d[column] = column
                other.flush()
            case "open":
                h5py.File("third.h5", "w").close()
                h5py.File("third.h5").close()
            case "names":
                links.create_group(f"new{column}")
                links.move(f"new{column}", f"old{column}")
                del links[f"old{column}"]
                assert list(f) == ["b", "c", "g"]
    f.close()
    other.close()


def check_columns() -> None:
    assert (h5py.File("x.h5")["g/a"][...] == np.arange(64)).all()


@pytest.mark.parametrize("act", ["write", "read", "ask", "append", "open", "names"])
def test_what_a_call_does_not_touch_stays_in_the_log(layer: Layer, act: str) -> None:
    layer.python(partial(write_and_touch_others, act))
    assert layer.counted("writes_logged") == 64
    assert layer.counted("replays") == 1
    layer.plain(check_columns)


def touch(act: str) -> None:
    f, a, _ = begin()
    v = h5py.VirtualLayout((64, 64), "i4")
    v[...] = h5py.VirtualSource(a)
    f.create_virtual_dataset("v", v)
    a[:, ::2] = 7
    again = h5py.File("x.h5", "r+")
    match act:
        case "read":
            assert (f["g/a"][:, ::2] == 7).all()
        case "read by another id":
            assert (again["g/a"][:, ::2] == 7).all()
        case "read as a virtual dataset":
            assert (f["v"][:, ::2] == 7).all()
        case "write by another id":
            again["g/a"][:, ::4] = 8
            a[:, ::4] = 7
        case "flush by another id":
            again.flush()
            shutil.copy("x.h5", "copy.h5")
        case "ask":
            assert a.id.get_storage_size() == 64 * 64 * 4
        case "count":
            assert f["g/a"].id.get_num_chunks() == 16
        case "copy":
            f.copy("g", "copied")
            assert (f["copied/a"][:, ::2] == 7).all()
        case "image":
            Path("copy.h5").write_bytes(f.id.get_file_image())
    again.close()
    f.close()


def check_touched(*, copied: bool = False) -> None:
    for name in ("x.h5", "copy.h5") if copied and Path("copy.h5").exists() else ("x.h5",):
        assert (h5py.File(name)["g/a"][:, ::2] == 7).all(), name


TOUCHING = (
    "read",
    "read by another id",
    "read as a virtual dataset",
    "write by another id",
    "flush by another id",
    "ask",
    "count",
    "copy",
    "image",
)


@BOTH
@pytest.mark.parametrize("act", TOUCHING)
def test_what_a_call_touches_is_there(layer: Layer, act: str, options: str) -> None:
    layer.python(partial(touch, act), options)
    assert layer.counted("writes_logged") >= 1
    layer.python(check_touched)
    layer.python("h5py.File('x.h5', 'r+').close()")
    layer.plain(partial(check_touched, copied=not options or act == "image"))


def delete_and_make_anew() -> None:
    f, a, _ = begin()
    reused = 0
    for k in range(20):
        d = f.create_dataset("d", (100, 100), "i4")
        token = h5py.h5o.get_info(d.id).addr
        d[:, ::10] = np.full((100, 10), k)
        del d, f["d"]
        new = f.create_dataset(f"new{k}", (30, 50), "i8", chunks=(10, 10))
        reused += h5py.h5o.get_info(new.id).addr == token
        new[:, ::2] = np.full((30, 25), 2**40 + k)
        a[:, k] = k
    f.close()
    assert reused, "this shows nothing"


def check_new() -> None:
    f = h5py.File("x.h5")
    for k in range(20):
        assert (f[f"new{k}"][:, ::2] == 2**40 + k).all()
        assert not f[f"new{k}"][:, 1::2].any()
    assert (f["g/a"][:, :20] == np.arange(20)).all()


def test_a_deleted_dataset_and_a_new_one_in_its_place(layer: Layer) -> None:
    """Logging goes on, and knows them apart."""
    layer.python(delete_and_make_anew)
    assert layer.counted("writes_logged") == 60
    layer.plain(check_new)


def write_what_is_deleted() -> None:
    f, a, _ = begin()
    a[:, ::2] = 1
    del f["g/a"]
    a[:, 1::2] = 2
    assert (a[...] == np.tile([1, 2], 32)).all()
    new = f.create_dataset("g/a", (64, 64), "i4")
    new[:, ::2] = 7
    del a
    new[:, 1::2] = 8
    f.close()


def check_what_is_new() -> None:
    a = h5py.File("x.h5")["g/a"][...]
    assert (a == np.tile([7, 8], 32)).all()


@BOTH
def test_a_deleted_dataset_is_written_while_it_is_open(layer: Layer, options: str) -> None:
    layer.python(write_what_is_deleted, options)
    layer.python("h5py.File('x.h5', 'r+').close()")
    layer.plain(check_what_is_new)


def some(rng: np.random.Generator) -> tuple[Any, Any]:
    """A selection of a dataset of 60 by 60."""
    step = int(rng.integers(1, 4))
    start = int(rng.integers(0, 40))
    part = slice(start, start + int(rng.integers(1, 20)), step)
    rows = np.flatnonzero(rng.random(60) < 0.2)
    row = int(rng.integers(0, 60))
    kinds: list[tuple[Any, Any]] = [
        (part, row),
        (row, part),
        (part, part),
        (slice(None), part),
        (rows, part),
    ]
    return kinds[int(rng.integers(0, len(kinds)))]


def write_and_read(seed: int, chunks: tuple[int, int] | None) -> None:
    rng = np.random.default_rng(seed)
    f = h5py.File("x.h5", "w")
    expected = np.zeros((60, 60), "i4")
    d = f.create_dataset("g/a", expected.shape, "i4", chunks=chunks)
    for k in range(1, 400):
        where = some(rng)
        expected[where] = k
        d[where] = expected[where]
        for _ in range(int(rng.integers(0, 3))):
            where = some(rng)
            got = np.full(expected[where].shape, -1, ("i4", "i8", "f4")[k % 3])
            if got.size:
                d.read_direct(got, where)
            assert (got == expected[where]).all(), (k, where)
        if k % 50 == 0:
            assert (d[...] == expected).all()
    f.close()
    np.save("expected.npy", expected)


@pytest.mark.parametrize("chunks", [None, (16, 32)])
def test_reads_look_through_the_log(layer: Layer, chunks: tuple[int, int] | None) -> None:
    layer.python(partial(write_and_read, SEED, chunks))
    assert layer.counted("writes_logged") > 100
    assert layer.counted("replays") < 20
    layer.plain("assert (h5py.File('x.h5')['g/a'][...] == np.load('expected.npy')).all()")


def read_what_is_not_filled() -> None:
    never = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    never.set_fill_time(h5py.h5d.FILL_TIME_NEVER)
    never.set_chunk((100,))
    f = h5py.File("x.h5", "w")
    space = h5py.h5s.create_simple((400,))
    d = h5py.Dataset(h5py.h5d.create(f.id, b"d", h5py.h5t.NATIVE_INT32, space, never))
    d[:100] = np.arange(100)
    d[0:50:2] = np.full(25, 6)
    space.select_hyperslab((90,), (20,))
    buffer = np.full(20, 77, "i4")
    d.id.read(h5py.h5s.create_simple((20,)), space, buffer)
    assert buffer.tolist() == [*range(90, 100), *[77] * 10]
    assert d[0] == 6
    f.close()


def test_memory_stays_where_nothing_was_written(layer: Layer) -> None:
    layer.python(read_what_is_not_filled)
    assert layer.counted("writes_logged") == 1


def read_into_nothing() -> None:
    f, a, _ = begin()
    a[:, ::2] = np.ones((64, 32))
    read = hdf5_of_h5py().H5Dread
    read.argtypes = [ctypes.c_int64] * 5 + [ctypes.c_void_p]
    assert read(a.id.id, h5py.h5t.NATIVE_INT32.id, 0, 0, 0, None) < 0
    assert (a[0, ::2] == 1).all()
    f.close()


def test_a_read_without_memory_is_refused(layer: Layer) -> None:
    layer.python(read_into_nothing)


def rename_and_open() -> None:
    f, a, _ = begin()
    a[:, ::2] = np.ones((64, 32))
    Path("x.h5").rename("y.h5")
    with h5py.File("y.h5", "r+") as again:
        assert (again["g/a"][:, ::2] == 1).all()
    f.close()


@BOTH
def test_a_file_that_is_renamed_while_it_is_open(layer: Layer, options: str) -> None:
    layer.python(rename_and_open, options)
    layer.plain("assert (h5py.File('y.h5')['g/a'][:, ::2] == 1).all()")


def write_of_a_committed_type() -> None:
    f = h5py.File("x.h5", "w")
    f["t"] = np.dtype("i4")
    d = f.create_dataset("g/a", (64, 64), dtype=f["t"])
    d[:, ::8] = np.full((64, 8), 7)
    f.create_dataset("b", (64, 64), "i4")[:, ::8] = np.full((64, 8), 8)
    f.close()


@BOTH
def test_datasets_of_committed_types(layer: Layer, options: str) -> None:
    layer.python(write_of_a_committed_type, options)
    assert layer.counted("writes_logged") == (1 if options else 2)
    layer.python("h5py.File('x.h5', 'r+').close()")
    layer.plain("assert (h5py.File('x.h5')['g/a'][:, ::8] == 7).all()")
    layer.plain("assert (h5py.File('x.h5')['b'][:, ::8] == 8).all()")
