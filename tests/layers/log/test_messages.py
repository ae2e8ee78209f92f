"""What is told names the file, the object and the cause, and nothing is told that is no error."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import h5py
import numpy as np
import pytest
from h5py import _errors

if TYPE_CHECKING:
    from harness.layer import Layer

LATER = "canonicalise=later;"


def made() -> tuple[h5py.File, h5py.Dataset]:
    f = h5py.File("x.h5", "w")
    d = f.create_dataset("d", (100, 100), "i4", chunks=(50, 50), compression=1)
    d[:, ::2] = 7
    return f, d


def write() -> None:
    f, _d = made()
    f.close()


def told(action: Callable[[], None]) -> str:
    try:
        action()
    except (OSError, RuntimeError) as error:
        return str(error)
    raise AssertionError("nothing is told")


def no_markers() -> dict[str, object]:
    return {
        "16 numbers": np.zeros(16, "u1"),
        "15 bytes": np.void(bytes(15)),
        "1000 of 16 bytes": np.zeros(1000, "V16"),
        "none of 16 bytes": np.zeros(0, "V16"),
        "empty": h5py.Empty("V16"),
    }


def mark(what: str) -> None:
    h5py.File("x.h5", "w").attrs["_headrace_log"] = no_markers()[what]


def open_file(mode: str) -> None:
    h5py.File("x.h5", mode)


@pytest.mark.parametrize("what", no_markers())
@pytest.mark.parametrize("mode", ["r", "r+"])
def test_a_marker_that_is_none(layer: Layer, what: str, mode: str) -> None:
    layer.plain(partial(mark, what))
    done = layer.start(partial(open_file, mode))
    assert done.status == 1, done.text
    assert (
        "attribute _headrace_log of the root group of file x.h5 does not name a log: "
        "it is not 16 opaque bytes" in done.text
    ), done.text
    assert layer.value("len(f.attrs)") == "1"


def damage_a_chunk() -> None:
    with h5py.File("x.h5", "r+") as f:
        f["d"].id.write_direct_chunk((50, 0), b"this is not deflated")


def write_around_it() -> None:
    f = h5py.File("x.h5", "r+")
    f["d"][:, ::2] = 8
    text = told(f.close)
    assert "writing dataset /d of file x.h5 failed: HDF5 cannot read what lies" in text, text
    assert "between logged data: filter returned failure during read" in text, text
    os._exit(0)


def test_what_lies_between_logged_data_cannot_be_read(layer: Layer) -> None:
    """A chunk whose filter fails."""
    layer.plain(write)
    layer.plain(damage_a_chunk)
    layer.python(write_around_it)


def remove_the_log() -> None:
    f, d = made()
    d[...]
    next(Path("x.h5.headrace").iterdir()).unlink()
    text = told(f.close)
    assert f"log {Path.cwd()}/x.h5.headrace/" in text, text
    assert ".log cannot be removed" in text, text
    assert "No such file or directory" in text, text
    os._exit(0)


def test_a_log_that_is_gone(layer: Layer) -> None:
    layer.python(remove_the_log, LATER)


def remove_the_marker(*, altogether: bool, closes: bool) -> None:
    f, d = made()
    d[:, 1::2] = 8
    marks = f.attrs
    if altogether:
        del marks["_headrace_log"]
    else:
        marks.modify("_headrace_log", np.void(bytes(16)))
    if closes:
        f.close()
    else:
        f.flush()
    os._exit(0)


def read_what_was_marked() -> None:
    d = h5py.File("x.h5")["d"]
    assert (d[:, ::2] == 7).all()
    assert (d[:, 1::2] == 8).all()


@pytest.mark.parametrize("closes", [True, False])
@pytest.mark.parametrize("altogether", [True, False])
def test_a_marker_that_is_gone(layer: Layer, *, altogether: bool, closes: bool) -> None:
    """Nobody would find the log any more, so it is put in order while there is time."""
    layer.python(partial(remove_the_marker, altogether=altogether, closes=closes), LATER)
    layer.plain(read_what_was_marked)


def read_with_another_list() -> None:
    maps = [line.split()[-1] for line in Path("/proc/self/maps").read_text().splitlines()]
    hdf5 = ctypes.CDLL(next(path for path in maps if "libhdf5" in path and "_hl" not in path))
    f = h5py.File("x.h5")
    d = f["d"]
    into = np.zeros((100, 100), "i4")
    d.id.read(h5py.h5s.ALL, h5py.h5s.ALL, into)
    another = h5py.h5p.create(h5py.h5p.DATASET_XFER)
    assert hdf5.H5Pset_hyper_vector_size(ctypes.c_int64(another.id), ctypes.c_size_t(64)) == 0
    _errors.unsilence_errors()
    d.id.read(h5py.h5s.ALL, h5py.h5s.ALL, into, dxpl=another)
    assert (into[:, ::2] == 7).all()
    assert not into[:, 1::2].any()


def test_nothing_is_printed_of_questions(layer: Layer) -> None:
    """The layer asks HDF5 for what a list may not have, and HDF5 prints what it answers."""
    layer.python(write, LATER)
    done = layer.python(read_with_another_list)
    assert "HDF5-DIAG" not in done.text, done.text
