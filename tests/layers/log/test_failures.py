"""What HDF5 or the system does not take is told, and a log that outlives a program stays whole."""

from __future__ import annotations

import os
import resource
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import h5py
import numpy as np
import pytest
from layers.log.program_parts import told

if TYPE_CHECKING:
    from harness.layer import Layer

LATER = "canonicalise=later;"


def limit(size: int) -> None:
    """Files may not grow beyond that from now on."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))


def refused(action: Callable[[], object]) -> bool:
    try:
        action()
    except (OSError, RuntimeError) as error:
        text = str(error)
    else:
        return False
    assert "x.h5" in text, text
    assert "File too large" in text, text
    return True


def begin() -> tuple[h5py.File, h5py.Dataset]:
    """Chunks stay in HDF5's memory until the dataset is closed or flushed.

    They have their places in the file: HDF5 2.0 loses those whose places it could not write, and
    says so nowhere.
    """
    f = h5py.File("x.h5", "w")
    pad = f.create_dataset("pad", data=np.ones(300000, "i1"))
    f.create_dataset("d", data=np.zeros((100, 100), "i4"), chunks=(50, 50))[:, ::2] = 7
    f.flush()
    return f, pad


def check() -> None:
    with h5py.File("x.h5") as f:
        assert (f["d"][:, ::2] == 8).all()
        assert f["pad"][...].all()


def use(f: h5py.File, pad: h5py.Dataset, action: str) -> None:
    match action:
        case "read another dataset":
            pad[:10]
        case "read":
            f["d"][...]
        case "write all":
            f["d"][...] = 9
        case "write what is not logged":
            f["d"][:, 1::2] = 9
        case "read a chunk as it is":
            f["d"].id.read_direct_chunk((0, 0))
        case "copy":
            f.copy("d", "e")


def use_what_cannot_be_flushed(action: str, end: str) -> None:
    f, pad = begin()
    f["d"][:, ::2] = 8
    limit(200000)
    assert refused(lambda: f["d"][0]) or refused(f.flush)
    limit(resource.RLIM_INFINITY)
    assert refused(lambda: use(f, pad, action)), "nothing is told"
    if end == "killed":
        os._exit(0)
    f.flush()
    f.close()


@pytest.mark.share(8)
@pytest.mark.parametrize("options", ["", LATER])
@pytest.mark.parametrize(
    "action",
    [
        "read another dataset",
        "read",
        "write all",
        "write what is not logged",
        "read a chunk as it is",
        "copy",
    ],
)
@pytest.mark.parametrize("end", ["killed", "flushed"])
def test_a_log_that_hdf5_does_not_take(layer: Layer, action: str, options: str, end: str) -> None:
    """Nobody reads or writes past it until a flush has put it in the file."""
    layer.python(partial(use_what_cannot_be_flushed, action, end), options)
    if options == LATER:
        layer.python("h5py.File('x.h5', 'r+').close()", "recover=true;verify=true;")
    if options == LATER or end == "flushed":
        layer.plain(check)


def close_without_room(size: int) -> None:
    f, _pad = begin()
    f["d"][:, ::2] = 8
    f.create_group("g")
    limit(size)
    assert refused(f.close), "nothing is told"
    os._exit(0)


@pytest.mark.parametrize("size", [10000, 200000])
def test_a_full_disk_when_a_file_is_closed(layer: Layer, size: int) -> None:
    """The log may still have room."""
    layer.python(partial(close_without_room, size), LATER)


def write_and_close() -> None:
    f, _pad = begin()
    f["d"][:, ::2] = 8
    f.close()


def replay_without_room() -> None:
    limit(200000)
    text = told(lambda: h5py.File("x.h5", "r+"))
    assert "dataset /d of file" in text, text
    assert "File too large" in text, text
    os._exit(0)


def test_a_replay_that_fails_leaves_the_log(layer: Layer) -> None:
    layer.python(write_and_close, LATER)
    layer.python(replay_without_room)
    layer.python("h5py.File('x.h5', 'r+').close()")
    layer.plain(check)


def cut_off_the_log() -> None:
    f = h5py.File("x.h5", "w")
    d = f.create_dataset("d", (100, 100), "i4")
    d[:, ::2] = 7
    f.flush()
    d[:, 1::2] = 8
    f.flush()
    log = next(Path("x.h5.headrace").iterdir())
    os.truncate(log, log.stat().st_size - 100)
    text = told(lambda: d[...])
    assert "a part of the log of file" in text, text
    assert "x.h5" in text, text
    os._exit(0)


def test_a_log_that_was_cut_off(layer: Layer) -> None:
    layer.python(cut_off_the_log, LATER)


def fill_chunks_in_memory(reopened: bool, reads: bool) -> None:
    f = h5py.File("x.h5", "w")
    f.create_dataset("d", (100, 100), "i4", chunks=(50, 50))
    f.flush()
    file = f.id.reopen() if reopened else f.id
    d = h5py.Dataset(h5py.h5d.open(file, b"d"))
    d[0] = 3
    d[1::2, ::2] = 7
    if reads:
        d[0, 0]
    else:
        del d
        f.flush()
    os._exit(0)


def check_what_was_in_memory() -> None:
    d = h5py.File("x.h5")["d"]
    assert (d[1::2, ::2] == 7).all()
    assert (d[0] == 3).all()


@pytest.mark.parametrize(("reopened", "reads"), [(False, False), (True, False), (True, True)])
def test_a_flush_covers_what_hdf5_has_in_memory(
    layer: Layer, *, reopened: bool, reads: bool
) -> None:
    """Of a dataset that the program has closed, or has opened through another id of the file."""
    layer.python(partial(fill_chunks_in_memory, reopened, reads), LATER)
    layer.python("h5py.File('x.h5', 'r+').close()", "recover=true;")
    layer.plain(check_what_was_in_memory)


def write_few_chunks() -> None:
    f = h5py.File("x.h5", "w")
    d = f.create_dataset("d", (10**9, 100), "i4", chunks=(10, 10))
    d[5 * 10**8 : 5 * 10**8 + 25, ::2] = 7
    f.close()
    f = h5py.File("x.h5", "r+")
    d = f["d"]
    d[-1, ::2] = 8
    d[5 * 10**8 + 99, ::2] = 9
    f.close()


def check_few_chunks() -> None:
    d = h5py.File("x.h5")["d"]
    at = 5 * 10**8
    assert (d[at : at + 25, ::2] == 7).all()
    assert not d[at - 10 : at].any()
    assert not d[at : at + 25, 1::2].any()
    assert not d[at + 25 : at + 99].any()
    assert (d[-1, ::2] == 8).all()
    assert (d[at + 99, ::2] == 9).all()


def test_few_chunks_of_many(layer: Layer) -> None:
    layer.python(write_few_chunks)
    layer.plain(check_few_chunks)
