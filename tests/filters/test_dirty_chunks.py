"""Chunks that the layer holds decoded: whoever may look at them finds what was written."""

from __future__ import annotations

import os
import resource
import shutil
import signal
import sys
import zlib
from functools import partial
from typing import TYPE_CHECKING, Any

import h5py
import numpy as np
import pytest

if TYPE_CHECKING:
    from harness.layer import Layer


def written(selection: Any) -> tuple[Any, Any]:
    """A file that is left open, and its dataset, of which a chunk or a part of it is written."""
    f = h5py.File(h5py.h5f.create(b"x.h5"))
    d = f.create_dataset("d", (1000,), "i4", chunks=(500,), compression=4)
    d[selection] = [0, 0, 0, 7] + [0] * 496 if selection == slice(500) else 7
    return f, d


# What a program may do then; another handle, or another reader, must see it.


def flush(selection: Any) -> None:
    f, d = written(selection)
    f.flush()
    assert d


def ask_for_storage_size(selection: Any) -> None:
    _, d = written(selection)
    assert d.id.get_storage_size() > 0


def ask_for_chunks(selection: Any) -> None:
    _, d = written(selection)
    assert d.id.get_num_chunks() == 1


def read_the_stored_chunk(selection: Any) -> None:
    _, d = written(selection)
    assert len(d.id.read_direct_chunk((0,))[1]) > 0


def read_scattered(selection: Any) -> None:
    _, d = written(selection)
    assert d[[3, 5]].tolist() == [7, 0]


def copy(selection: Any) -> None:
    f, d = written(selection)
    f.copy("d", "e")
    assert d
    assert f["e"][3] == 7


def read_by_another_handle(selection: Any) -> None:
    f, d = written(selection)
    assert d
    assert f["d"][3] == 7


def read_by_a_second_file(selection: Any) -> None:
    _, d = written(selection)
    assert d
    assert h5py.File("x.h5", "r+")["d"][3] == 7


def read_by_a_virtual_dataset(selection: Any) -> None:
    f, d = written(selection)
    layout = h5py.VirtualLayout((10,), "i4")
    layout[:] = h5py.VirtualSource(d)[:10]
    f.create_virtual_dataset("v", layout)
    assert f["v"][3] == 7


def close_the_file_first(selection: Any) -> None:
    f, d = written(selection)
    f.id.close()
    assert d[3] == 7
    d[4] = 8
    d.id.close()


def close_the_handle(selection: Any) -> None:
    f, d = written(selection)
    d = None
    assert f
    assert not d


def exit_with_all_open(selection: Any) -> None:
    keep = written(selection)
    assert keep
    sys.exit()


LOOKS = [
    flush,
    ask_for_storage_size,
    ask_for_chunks,
    read_the_stored_chunk,
    read_scattered,
    copy,
    read_by_another_handle,
    read_by_a_second_file,
    read_by_a_virtual_dataset,
    close_the_file_first,
    close_the_handle,
    exit_with_all_open,
]


@pytest.mark.share(14)
@pytest.mark.parametrize("selection", [3, slice(3, 4), slice(500)], ids=["3", "3:4", ":500"])
@pytest.mark.parametrize("look", LOOKS)
def test_a_dirty_chunk_is_seen(filters: Layer, look: Any, selection: Any) -> None:
    filters.python(partial(look, selection))
    assert filters.value("f['d'][3:6:2].tolist()") == "[7, 0]"
    assert filters.counted("chunks_encoded") >= 1


def kill_a_child_after_a_flush() -> None:
    f = h5py.File("x.h5", "w")
    d = f.create_dataset("d", (1000,), "i4", chunks=(1000,), compression=4)
    d[3] = 7
    f.flush()
    if os.fork() == 0:
        os.kill(os.getpid(), signal.SIGKILL)
    os.wait()
    print(d[3])


def test_flushed_data_survives_a_kill(filters: Layer) -> None:
    done = filters.python(kill_a_child_after_a_flush)
    assert done.out == b"7\n"


def let_the_file_grow_no_more() -> None:
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    f = h5py.File("x.h5", "w")
    d = f.create_dataset("d", (100000,), "f8", chunks=(50000,), compression=4)
    f.flush()
    d[10:99990] = np.random.default_rng(0).random(99980)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, resource.RLIM_INFINITY))
    told = []
    for call in (f.flush, f.close):
        try:
            call()
        except (OSError, RuntimeError) as error:
            told.append(str(error))
    assert len(told) >= 1, told
    resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))


def test_a_late_error_is_told_at_flush_or_close(filters: Layer) -> None:
    """The disk is full when the dirty chunk must go."""
    filters.python(let_the_file_grow_no_more)


def grow_over_a_chunk(whole: bool) -> None:
    """Which was stored by the program, whole, while a part of it was outside the array."""
    with h5py.File("x.h5", "w") as f:
        d = f.create_dataset("d", (7, 3), "i4", chunks=(5, 2), maxshape=(None, None), compression=4)
        d.id.write_direct_chunk((5, 2), zlib.compress((np.arange(10, dtype="i4") + 100).tobytes()))
        if whole:
            d[...] = np.arange(21, dtype="i4").reshape(7, 3)
        else:
            d[6] = 5
        d.resize((10, 4))
        print(d[...].tolist())
    print(h5py.File("x.h5")["d"][...].tolist())


@pytest.mark.parametrize("options", ["seat=vol;", "seat=vol;chunk_cache=0;"])
@pytest.mark.parametrize("whole", [True, False])
def test_what_a_chunk_has_outside_the_array(filters: Layer, whole: bool, options: str) -> None:
    program = partial(grow_over_a_chunk, whole)
    native = filters.python(program, None).out
    assert b"109" in native, "it came into the array"
    assert filters.python(program, options).out == native
    assert not whole or filters.counted("chunks_encoded") > 0


def read_element(d: h5py.h5d.DatasetID, place: int) -> int:
    """By no other id of the file, whose close would have the layer look what is still open."""
    space = d.get_space()
    space.select_hyperslab((place,), (1,))
    found = np.zeros(1, "i8")
    d.read(h5py.h5s.create_simple((1,)), space, found)
    return int(found[0])


def put_another_file_in_place() -> None:
    """Into the same inode, with the dataset at the same address, once HDF5 has closed the first."""
    for name, value in (("x.h5", 1), ("y.h5", 2)):
        with h5py.File(name, "w") as f:
            f.create_dataset("d", data=[value] * 1000, chunks=(500,), compression=4)
    opened = h5py.h5f.open(b"x.h5")
    d = h5py.h5d.open(opened, b"d")
    assert read_element(d, 3) == 1
    opened.close()  # the dataset keeps it open
    assert read_element(d, 4) == 1
    d.close()
    shutil.copyfile("y.h5", "x.h5")
    assert read_element(h5py.h5d.open(h5py.h5f.open(b"x.h5"), b"d"), 3) == 2


def test_what_is_cached_of_a_file_goes_with_it(filters: Layer) -> None:
    filters.python(put_another_file_in_place, "seat=both;")
    assert filters.counted("chunk_cache_hits") > 0
