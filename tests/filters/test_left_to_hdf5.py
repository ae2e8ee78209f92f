"""Calls that the filters do not take over, or only after HDF5."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import h5py
import numpy as np
import pytest
from filters.fields import make_field

if TYPE_CHECKING:
    from harness.layer import Layer

TESTS = Path(__file__).resolve().parents[1]


def write_compressed() -> None:
    field = make_field()
    with h5py.File("x.h5", "w") as f:
        assert (f.create_dataset("d", data=field, compression=4)[...] == field).all()


@pytest.mark.parametrize("options", ["seat=vol;filters=false;", "seat=vfd;"])
def test_settings_leave_all_to_hdf5(filters: Layer, options: str) -> None:
    filters.python(write_compressed, options)
    assert filters.counted("chunks_encoded") == filters.counted("chunks_decoded") == 0


def write_scale_offset() -> None:
    with h5py.File("x.h5", "w") as f:
        f.create_dataset("d", (9,), "i4", scaleoffset=0, compression=1)[...] = 5


def write_contiguous() -> None:
    with h5py.File("x.h5", "w") as f:
        f.create_dataset("d", data=make_field())


def write_chunks_without_filters() -> None:
    with h5py.File("x.h5", "w") as f:
        f.create_dataset("d", data=make_field(), chunks=(9, 9))


def write_and_read_nothing() -> None:
    with h5py.File("x.h5", "w") as f:
        d = f.create_dataset("d", (9,), "f4", chunks=(3,), compression=1)
        space = h5py.h5s.create_simple((9,))
        space.select_none()
        d.id.write(space, space, np.zeros(9, "f4"))
        d.id.read(space, space, np.zeros(9, "f4"))


def read_longer_strings() -> None:
    with h5py.File("x.h5", "w") as f:
        f.create_dataset("d", (9,), "S9", chunks=(3,), compression=1).astype("S20")[...]


def write_variable_strings() -> None:
    with h5py.File("x.h5", "w") as f:
        f.create_dataset("d", data=["a", "b"] * 50, chunks=(9,), compression=1)


def write_strings_in_compounds() -> None:
    kind = [("a", h5py.string_dtype())]
    with h5py.File("x.h5", "w") as f:
        f.create_dataset("d", (9,), kind, chunks=(3,), compression=1)[0] = ("x",)


def write_references() -> None:
    with h5py.File("x.h5", "w") as f:
        f.create_dataset("d", (9,), h5py.ref_dtype, chunks=(3,), compression=1)[0] = f.ref


# And what the statistics call the reason.
NOT_OURS = [
    (write_scale_offset, "filters"),
    (write_contiguous, "layout"),
    (write_chunks_without_filters, "filters"),
    (write_and_read_nothing, "selection"),
    (read_longer_strings, "conversion"),
    (write_variable_strings, "datatype"),
    (write_strings_in_compounds, "datatype"),
    (write_references, "datatype"),
]


@pytest.mark.parametrize(("what", "why"), NOT_OURS)
def test_others_are_left_to_hdf5(filters: Layer, what: Any, why: str) -> None:
    filters.python(what)
    assert filters.counted("chunks_encoded") == 0
    assert filters.counted("calls_left_to_hdf5") == filters.counted(f"left_for_{why}") > 0
    filters.value("f['d'][...]")


def replace_chunks_without_a_filter() -> None:
    data = np.arange(1000, dtype="i4")
    with h5py.File("x.h5", "w") as f:
        d = f.create_dataset("d", (2000,), "i4", chunks=(1000,), shuffle=True, compression=4)
        for start in (0, 1000):
            d.id.write_direct_chunk((start,), data.tobytes(), filter_mask=3)
    with h5py.File("x.h5", "r+") as f:  # HDF5 mistakes the mask until then
        d = f["d"]
        assert (d[:1000] == data).all()
        d[:1000] = data[::-1]
        d[1500] = -1
        assert (d[:1000] == data[::-1]).all()
        assert d[1499:1502].tolist() == [499, -1, 501]
        assert d.id.get_chunk_info(0).filter_mask == 0


def test_chunks_stored_without_a_filter_are_read_and_left_to_hdf5_to_replace(
    filters: Layer,
) -> None:
    """HDF5 goes on using the old mask after H5Dwrite_chunk."""
    filters.python(replace_chunks_without_a_filter)
    assert filters.value("f['d'][:3].tolist(), f['d'][1499:1502].tolist()") == (
        "[999, 998, 997] [499, -1, 501]"
    )
    assert filters.counted("chunks_decoded") > 0
    assert filters.counted("chunks_encoded") == 0


def store_chunks_without_the_filter(another: bool) -> None:
    raw = np.random.default_rng(1).integers(0, 256, 4000).astype("u1")
    with h5py.File("x.h5", "w") as f:
        d = f.create_dataset("d", (8, 4000), "u1", chunks=(1, 4000), compression="gzip")
        for i in range(8):
            one = f["d"] if another else d
            one.id.write_direct_chunk((i, 0), raw.tobytes(), filter_mask=1)
        del one
        f.create_dataset("e", data=[1])
        d[1] = np.full(4000, 7, "u1")
        f.flush()
        assert (d[1, ::3] == 7).all()
        d[1, ::3] = 8


@pytest.mark.parametrize("another", [False, True])
def test_a_chunk_stored_without_its_filter_by_the_program(filters: Layer, another: bool) -> None:
    """As the first thing that is done to a dataset, through its first handle or another one."""
    filters.python(partial(store_chunks_without_the_filter, another))
    assert filters.value("(f['d'][1, ::3] == 8).all() and (f['d'][1, 1::3] == 7).all()") == "True"


def write_where_only_reading_is_allowed() -> None:
    with h5py.File("x.h5", "w") as f:
        f.create_dataset("d", data=[1, 2, 3, 4], chunks=(2,), compression=1)
    with h5py.File("x.h5", "r") as f:
        for where in (0, slice(0, 2), ...):
            told = ""
            try:
                f["d"][where] = 9
            except OSError as error:
                told = str(error)
            assert "no write intent" in told, where
        assert f["d"][:].tolist() == [1, 2, 3, 4]


def test_a_file_that_is_open_for_reading_is_not_written(filters: Layer) -> None:
    filters.python(write_where_only_reading_is_allowed)
    assert filters.counted("chunks_encoded") == 2


def test_hdf5_refuses_virtual_datasets_among_others_and_two_files(filters: Layer) -> None:
    program: list[str | Path] = [sys.executable, TESTS / "filters/programs/transfer_together.py"]
    ours, native = (
        filters.command(program, options, PYTHONPATH=str(TESTS)) for options in ("seat=vol;", None)
    )
    assert ours.status == native.status == 0, ours.text + native.text
    assert ours.out == native.out
    assert b"refused" in ours.out
    assert filters.counted("chunks_decoded") > 0
