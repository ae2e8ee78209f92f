"""Replays of what libraries above HDF5 do: all requests and calls are the program's."""

from __future__ import annotations

import contextlib
from pathlib import Path

import h5py
import netCDF4
import numpy as np
import pytest
import tables
from h5py import h5a, h5f
from harness.program import Program
from layers.trace.replay.conftest import Recorded
from random_programs.prelude import together

import headrace.trace


def copy_and_move() -> None:
    with h5py.File("x.h5", "w") as file:
        file["a"] = np.arange(10)
        file.copy("a", "b")
        file.move("b", "c")
        file.create_group("g")
        file["g"].move("/c", "inner")


def commit_types() -> None:
    with h5py.File("x.h5", "w") as file:
        file["type"] = np.dtype("i4,f8")
        file["type"].attrs["units"] = "m"


def link_to_another_file() -> None:
    with h5py.File("other.h5", "w") as file:
        file["x"] = np.arange(5)
    with h5py.File("x.h5", "w") as file:
        file["outside"] = h5py.ExternalLink("other.h5", "/x")
        assert file["outside"][3] == 3
        assert file.get("outside", getlink=True).path == "/x"


def ask_of_attributes() -> None:
    with h5py.File("x.h5", "w", track_order=True) as file:
        for i in range(12):
            file.attrs[f"number {i}"] = i
        assert len(dict(file.attrs)) == 12
        h5a.rename(file.id, b"number 3", b"three")
        assert h5a.get_info(file.id, b"three").data_size == 8
        assert h5a.get_info(file.id, index=2, index_type=1).data_size == 8
        assert "three" in list(file.attrs)


def transfer_together() -> None:
    with h5py.File("x.h5", "w") as file:
        datasets = [file.create_dataset(name, (10,), "i8") for name in "ab"]
        together("H5Dwrite_multi", datasets, [np.arange(10), np.arange(10, 20)])
        found = [np.zeros(10, "i8"), np.zeros(10, "i8")]
        together("H5Dread_multi", datasets, found)
        assert found[1][3] == 13


def visit_all() -> None:
    with h5py.File("x.h5", "w") as file:
        for i in range(5):
            file[f"group/{i}"] = np.arange(i)
        file["group"].attrs["units"] = "m"
    with h5py.File("x.h5") as file:
        sums = []
        file.visititems(lambda _, each: sums.append(each.attrs.get("units", each.name)))
        assert len(sums) == 6


def refer() -> None:
    with h5py.File("x.h5", "w") as file:
        file["a"] = np.arange(10)
        file["reference"] = file["a"].ref
        assert file[file["a"].ref].name == "/a"


def is_it_hdf5() -> None:
    with h5py.File("x.h5", "w") as file:
        file["a"] = 1
    assert h5f.is_hdf5(b"x.h5")


def ask_before() -> None:
    """Of a file that is made then: it is no input of the program."""
    with contextlib.suppress(OSError):
        h5f.is_hdf5(b"x.h5")
    with h5py.File("x.h5", "x") as file:
        file["a"] = 1


def ask_another() -> None:
    Path("text.h5").write_text("no HDF5")
    assert not h5f.is_hdf5(b"text.h5")
    with h5py.File("x.h5", "w") as file:
        file["a"] = 1


def write_a_table() -> None:
    class Row(tables.IsDescription):  # type: ignore[misc]
        name = tables.StringCol(16)
        value = tables.Float64Col()

    with tables.open_file("x.h5", "w") as file:
        group = file.create_group("/", "group", "a group")
        table = file.create_table(group, "table", Row, "a table")
        for i in range(500):
            table.row["value"] = i
            table.row.append()
        table.flush()
        grows = file.create_earray(group, "grows", tables.Float32Atom(), (0, 10))
        for i in range(3):
            grows.append(np.full((20, 10), i, "f4"))
        grows.attrs.units = "m"
    with tables.open_file("x.h5") as file:
        assert len([row["value"] for row in file.root.group.table.where("value > 490")]) == 9
        assert file.root.group.grows.attrs.units == "m"
        assert len(list(file.walk_nodes("/"))) == 4


def write_netcdf() -> None:
    with netCDF4.Dataset("x.h5", "w") as file:
        file.createDimension("time", None)
        file.createDimension("x", 100)
        file.createVariable("time", "f8", ("time",)).units = "days"
        values = file.createVariable("t2m", "f4", ("time", "x"))
        values.units = "K"
        for i in range(5):
            values[i] = np.arange(100)
    with netCDF4.Dataset("x.h5") as file:
        assert file["t2m"][2:4].sum() == 9900
        assert file["t2m"].units == "K"


@pytest.mark.parametrize(
    "program",
    [copy_and_move, commit_types, link_to_another_file, ask_of_attributes, refer, is_it_hdf5,
     transfer_together,
     ask_before, ask_another,
     write_a_table, write_netcdf],
)  # fmt: skip
def test_all_is_made_again(layer: Recorded, program: Program) -> None:
    layer.record(program)
    native = layer.replayed()
    assert not native.left_out
    assert native.likeness.exact
    assert not native.likeness.calls


def move_both_selections() -> None:
    """One selection, put elsewhere in memory and elsewhere in the file."""
    with h5py.File("x.h5", "w") as file:
        numbers = file.create_dataset("x", (20,), "i8").id
        spaces = [h5py.h5s.create_simple((20,)) for _ in range(2)]
        for space, offset in zip(spaces, (3, 7), strict=True):
            space.select_hyperslab((1,), (2,))
            space.offset_simple((offset,))
        numbers.write(spaces[0], spaces[1], np.arange(20))


def test_selections_are_put_where_the_program_put_them(layer: Recorded) -> None:
    layer.record(move_both_selections)
    native = layer.replayed()
    assert native.likeness.exact
    tables = [layer.trace(), headrace.trace.open(layer.folder / "under-native/replay.hrtrace")]
    for table in (each.calls.to_pandas() for each in tables):
        row = table[table["memory_start"] > 0].iloc[0]
        assert (row["memory_start"], row["file_start"]) == (4, 8)


def test_a_question_before_any_file_is_opened_is_recorded(layer: Recorded) -> None:
    layer.record(ask_another)
    calls = layer.trace().calls.to_pandas()
    assert calls.sort_values("number")["call"].iloc[0] == "file_specific"
    assert (layer.trace().requests.to_pandas()["call"] > 0).all(), "its requests are its own"


def test_what_is_done_in_an_iteration_follows_it(layer: Recorded) -> None:
    layer.record(visit_all)
    native = layer.replayed()
    assert not native.left_out
    assert not native.likeness.calls
    assert native.likeness.replayed == native.likeness.requests
