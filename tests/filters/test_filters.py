"""Parallel filters: what programs read is native HDF5's, what is written any HDF5 reads."""

from __future__ import annotations

import os
from functools import partial
from typing import TYPE_CHECKING, Any

import h5py
import numpy as np
import pytest
from filters.fields import make_field
from filters.registered import print_sums_around, spoil

if TYPE_CHECKING:
    from harness.layer import Layer


def write_and_read_whole() -> None:
    field = make_field()
    with h5py.File("x.h5", "w") as f:
        f.create_dataset("d", data=field, chunks=(100, 100), compression=4, shuffle=True)
    with h5py.File("x.h5") as f:
        assert (f["d"][...] == field).all()


def test_whole_dataset_is_ours_both_ways(filters: Layer) -> None:
    filters.python(write_and_read_whole)
    assert filters.counted("chunks_encoded") == 30
    assert filters.counted("chunks_decoded") == 30
    assert filters.counted("calls_left_to_hdf5") == 0
    assert filters.value("f['d'][...].sum()") == str(make_field().sum())


def write_and_read_rows() -> None:
    field = make_field()
    random = np.random.default_rng(2)
    with h5py.File("x.h5", "w") as f:
        d = f.create_dataset("d", field.shape, "f4", chunks=(300, 500), compression=4)
        for i in range(600):
            d[i] = field[i]
        d.attrs["a"] = 1
        for i in random.permutation(600):
            assert (d[i] == field[i]).all()
    with h5py.File("x.h5") as f:
        for i in random.permutation(600):
            assert (f["d"][i] == field[i]).all()


def test_rows_decode_and_encode_each_chunk_once(filters: Layer) -> None:
    filters.python(write_and_read_rows)
    assert filters.counted("chunks_encoded") == 2
    assert filters.counted("chunks_decoded") == 2
    assert filters.counted("chunk_cache_hits") > 1700


def append_rows() -> None:
    field = make_field()
    with h5py.File("x.h5", "w") as f:
        more = {"maxshape": (None, 500), "chunks": (100, 500), "compression": 4}
        d = f.create_dataset("d", (0, 500), "f4", **more)
        for i in range(600):
            d.resize(i + 1, axis=0)
            d[i] = field[i]


def test_appended_rows_stay_in_the_cache(filters: Layer) -> None:
    filters.python(append_rows)
    assert filters.counted("chunks_encoded") == 6
    assert filters.counted("chunks_decoded") == 0
    assert filters.value("f['d'].shape == (600, 500) and f['d'][599, 499] > 0") == "True"


def read_in_a_child_as_well() -> None:
    field = make_field()
    with h5py.File("x.h5", "w") as f:
        f.create_dataset("d", data=field, chunks=(100, 100), compression=4)
    f = h5py.File("x.h5")
    assert (f["d"][...] == field).all()
    child = os.fork()
    if child == 0:
        os._exit(0 if (f["d"][:, :400] == field[:, :400]).all() else 1)
    assert os.waitpid(child, 0)[1] == 0


def test_a_forked_child_reads_with_threads_of_its_own(filters: Layer) -> None:
    filters.python(read_in_a_child_as_well)


def write_and_spoil(fletcher32: bool) -> None:
    how = {"chunks": (10000,), "compression": 4, "shuffle": True, "fletcher32": fletcher32}
    with h5py.File("x.h5", "w") as f:
        d = f.create_dataset("d", data=np.arange(40000) % 977, **how)
        where = d.id.get_chunk_info(2)
    spoil(where.byte_offset + 20, 20)


@pytest.mark.parametrize("fletcher32", [False, True])
def test_damaged_chunks_end_as_they_do_natively(filters: Layer, fletcher32: bool) -> None:
    filters.python(partial(write_and_spoil, fletcher32))
    read = partial(print_sums_around, 20000, 35000, 25000)
    native = filters.python(read, None)
    ours = filters.python(read)
    assert ours.out == native.out
    assert ours.out.count(b"Can't synchronously read data") == 2
    assert filters.counted("chunks_decoded") > 0


def write_and_open_again(name: str, opening: dict[str, Any], again: dict[str, Any]) -> None:
    field = make_field()
    how = {"chunks": (100, 99), "compression": 4, "fletcher32": True}
    with h5py.File(name, "w", **opening) as f:
        d = f.create_dataset("d", data=field, **how)
        d[50:60, 3] = 9
        field[50:60, 3] = 9
        assert (d[...] == field).all()
        assert (d[333] == field[333]).all()
    with h5py.File(name, **again) as f:
        assert (f["d"][...] == field).all()


FAMILY = {"driver": "family", "memb_size": 100000}


@pytest.mark.parametrize(
    "opening",
    [
        {"driver": "core"},
        FAMILY,
        {"fs_strategy": "page", "page_buf_size": 65536},
        {"userblock_size": 1024},
        {"libver": "latest"},
    ],
    ids=lambda opening: next(iter(opening.values())),
)
def test_drivers_and_formats(filters: Layer, opening: dict[str, Any]) -> None:
    name, again = ("x%d.h5", FAMILY) if opening == FAMILY else ("x.h5", {})
    filters.python(partial(write_and_open_again, name, opening, again))
    assert filters.counted("chunks_encoded") > 36


def write_by_a_committed_datatype() -> None:
    with h5py.File("x.h5", "w") as f:
        f["t"] = np.dtype([("a", "i4"), ("b", "f8")])
        d = f.create_dataset("d", (100,), f["t"], chunks=(50,), compression=1)
        d[...] = np.ones(100, f["t"].dtype)
        del d
        assert h5py.h5f.get_obj_count(f.id, h5py.h5f.OBJ_ALL) == 1
        assert f["d"][7:9].tolist() == [(1, 1.0)] * 2
        assert f["d"].id.get_type().committed()
        assert h5py.h5f.get_obj_count(f.id, h5py.h5f.OBJ_ALL) == 1


def test_a_committed_datatype_is_not_held_open(filters: Layer) -> None:
    filters.python(write_by_a_committed_datatype)
    assert filters.counted("chunks_encoded") == 2
