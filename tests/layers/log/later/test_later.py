"""Logs that outlive the program: canonicalise=later."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import h5py
import numpy as np
import pytest
from layers.log.later.waiting import (
    CHUNKS,
    LATER,
    Chunks,
    assert_right,
    logs,
    made,
    read_all,
    right,
    write,
    write_and_close,
)

if TYPE_CHECKING:
    from harness.layer import Layer


def write_and_exit(chunks: Chunks) -> None:
    _open = made(chunks)
    ctypes.CDLL(None).exit(0)


def print_before() -> None:
    with h5py.File("x.h5") as f:
        print(f["d"].shape, f["d"].dtype, (f["d"][...] == -1).all(), (f["g/e"][...] == 0).all())


def read_pieces() -> None:
    d, _ = right()
    with h5py.File("x.h5") as f:
        assert_right(f)
        assert (f["d"][3:9:2, 100:200] == d[3:9:2, 100:200]).all()
        assert (f["d"].astype("f8")[7] == d[7]).all()
        assert (f["d"][50, 13], f["d"][50, 12]) == (-1, 62)
        assert (f["d"][[1, 5, 8], 999] == d[[1, 5, 8], 999]).all()
        into = np.zeros((3, 1000), ">i2")
        f["d"].read_direct(into, np.s_[6], np.s_[1])
        assert (into[1] == d[6]).all()
        assert not into[[0, 2]].any()


@pytest.mark.parametrize("chunks", CHUNKS)
@pytest.mark.parametrize("program", [write_and_close, write_and_exit])
def test_a_log_is_read_where_it_is(
    layer: Layer, chunks: Chunks, program: Callable[[Chunks], None]
) -> None:
    write(layer, partial(program, chunks))
    assert len(logs(layer)) == 1
    # Plain tools see what was there before, of the true type and shape.
    assert layer.plain(print_before) == "(100, 1000) int32 True True"
    for options in (LATER, ""):
        layer.python(read_pieces, options)
    assert len(logs(layer)) == 1, "readers have left it alone"


def read_what_is_in_order() -> None:
    f = h5py.File("x.h5")
    assert not f.attrs
    assert_right(f)


@pytest.mark.parametrize("chunks", CHUNKS)
@pytest.mark.parametrize("options", [LATER, "", LATER + "verify=true;sync=true;"])
def test_a_writer_puts_it_in_order(layer: Layer, chunks: Chunks, options: str) -> None:
    write(layer, partial(write_and_close, chunks))
    layer.python(partial(read_all, "r+"), options)
    assert not (layer.folder / "x.h5.headrace").exists()
    assert layer.plain(read_what_is_in_order) == ""


def read_and_write_on() -> None:
    f, d = made()[:2]
    assert (f["d"][...] == right()[0]).all()
    d[:, 1::2] = 3
    f.close()


def test_the_program_itself_reads_what_it_has_logged(layer: Layer) -> None:
    write(layer, read_and_write_on)
    assert layer.value("(f['d'][50, 1::2] == -1).all(), f['d'][50, 12]") == "True 62", (
        "what was read is in order, what was logged after it is not"
    )
    layer.python("with h5py.File('x.h5') as f: assert (f['d'][:, 1::2] == 3).all()")
    layer.python("h5py.File('x.h5', 'r+').close()")
    assert layer.value("(f['d'][:, 1::2] == 3).all()") == "True"


def write_three_times() -> None:
    for part in range(3):
        with h5py.File("x.h5", "a") as f:
            options = {"maxshape": (None, 40), "chunks": (3, 7)}
            d = f.require_dataset("d", (10, 40), "i4", **options) if part == 0 else f["d"]
            d.resize((10 * (part + 1), 40))
            d[10 * part :, ::2] = part
            d[::2, part::5] = 100 + part
    with h5py.File("x.h5") as f:
        np.save("found", f["d"][...])
        assert Path("x.h5.headrace").is_dir()


def read_what_was_written_three_times() -> None:
    d = np.zeros((30, 40), "i4")
    for part in range(3):
        d[10 * part : 10 * part + 10, ::2] = part
        d[: 10 * part + 10 : 2, part::5] = 100 + part
    assert (np.load("found.npy") == d).all()
    with h5py.File("x.h5") as f:
        assert (f["d"][...] == d).all()


def test_a_file_that_grows_and_is_opened_again(layer: Layer) -> None:
    layer.python(write_three_times, LATER)
    layer.python("h5py.File('x.h5', 'r+').close()", LATER)
    assert layer.plain(read_what_was_written_three_times) == ""


def write_behind_a_weak_close() -> None:
    fapl = h5py.h5p.create(h5py.h5p.FILE_ACCESS)
    fapl.set_fclose_degree(h5py.h5f.CLOSE_WEAK)
    f = h5py.h5f.create(b"x.h5", h5py.h5f.ACC_TRUNC, fapl=fapl)
    space = h5py.h5s.create_simple((100, 100))
    d = h5py.Dataset(h5py.h5d.create(f, b"d", h5py.h5t.NATIVE_INT32, space))
    d[:, ::2] = 1
    f.close()
    d[:, 2::4] = 2


def test_writes_through_what_stays_open(layer: Layer) -> None:
    """HDF5 keeps the file open; what comes later must not end below what was logged."""
    layer.python(write_behind_a_weak_close, LATER)
    assert layer.counted("writes_logged") == 100, "row by row"
    layer.python("h5py.File('x.h5', 'r+').close()", LATER)
    assert layer.value("f['d'][0, :5]") == "[1 0 2 0 1]"


def test_a_new_file_has_nothing_of_an_old_log(layer: Layer) -> None:
    write(layer)
    layer.plain("h5py.File('x.h5', 'w').create_dataset('d', (100, 1000), 'i4')")
    layer.python("with h5py.File('x.h5') as f: assert not f['d'][...].any()")
    layer.python("with h5py.File('x.h5', 'r+') as f: assert not f['d'][...].any()")
    assert len(logs(layer)) == 1, "nobody knows whether that log is still wanted"


def write_what_others_may_not_read() -> None:
    f = h5py.File("x.h5", "w")
    d = f.create_dataset("d", (100, 100), "i4")
    Path("x.h5").chmod(0o600)
    d[:, ::2] = 7
    f.close()


def test_who_may_read_the_log(layer: Layer) -> None:
    layer.python(write_what_others_may_not_read, LATER)
    assert [log.stat().st_mode & 0o777 for log in logs(layer)] == [0o600]
