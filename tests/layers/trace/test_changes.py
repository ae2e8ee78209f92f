"""What a trace knows of objects stays true where a program changes them."""

from __future__ import annotations

import os
from pathlib import Path

import h5py
import numpy as np
from layers.trace.conftest import Traced


def make_again_and_grow() -> None:
    with h5py.File("x.h5", "w") as f:
        # By its name, where f.create_dataset makes it without one and links it.
        old = h5py.h5s.create_simple((4000,))
        h5py.h5d.create(f.id, b"d", h5py.h5t.NATIVE_DOUBLE, old).write(old, old, np.arange(4000.0))
        del f["d"]
        new = h5py.h5s.create_simple((10, 20), (h5py.h5s.UNLIMITED, 20))
        chunked = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        chunked.set_chunk((5, 20))
        grows = h5py.Dataset(h5py.h5d.create(f.id, b"d", h5py.h5t.STD_I16LE, new, chunked))
        everything = h5py.h5s.ALL
        for rows in (10, 30):
            grows.resize(rows, axis=0)
            values = np.ones((rows, 20), "i2")
            grows.id.write(everything, everything, values)
            grows.id.read(everything, everything, values)


def test_an_object_that_is_made_again_is_another_one(layer: Traced) -> None:
    layer.python(make_again_and_grow)
    (process,) = layer.read().processes
    ids = [id_ for id_, each in process.objects.items() if each["path"] == "/d"]
    assert len(ids) == 2
    assert [process.datasets[id_]["dims"] for id_ in ids] == [[4000], [10, 20]]


def test_bytes_are_those_of_the_extent_at_the_time(layer: Traced) -> None:
    layer.python(make_again_and_grow)
    calls = [each for each in layer.read().calls.to_pylist() if each["call"] == "dataset_read"]
    assert [each["bytes"] for each in calls] == [400, 1200]


def test_a_type_that_gets_another_size_counts_with_it(layer: Traced) -> None:
    def write_longer_and_longer() -> None:
        with h5py.File("x.h5", "w") as f:
            scalar = h5py.h5s.create(h5py.h5s.SCALAR)
            text = h5py.h5t.C_S1.copy()
            for size in (4, 40):
                text.set_size(size)
                made = h5py.h5a.create(f.id, f"a{size}".encode(), text, scalar)
                made.write(np.array(b"x" * size), mtype=text)

    layer.python(write_longer_and_longer)
    calls = [each for each in layer.read().calls.to_pylist() if each["call"] == "attr_write"]
    assert [each["bytes"] for each in calls] == [4, 40]


def move_with_an_offset() -> None:
    """H5Soffset_simple, of the file's dataspace and of memory's."""
    with h5py.File("x.h5", "w") as f:
        f["d"] = np.arange(100).reshape(10, 10)
        file, memory = f["d"].id.get_space(), h5py.h5s.create_simple((40,))
        memory.select_hyperslab((0,), (4,))
        for count, stride, block in (((2, 2), None, None), ((2, 2), (3, 4), (1, 1))):
            file.select_hyperslab((1, 1), count, stride, block)
            for offset in ((0, 0), (5, 1), (0, 3)):
                file.offset_simple(offset)
                memory.offset_simple((offset[0],))
                f["d"].id.read(memory, file, np.zeros(40, "i8"))


def test_selections_are_where_their_offset_puts_them(layer: Traced) -> None:
    layer.python(move_with_an_offset)
    calls = [each for each in layer.read().calls.to_pylist() if each["call"] == "dataset_read"]
    assert [each["file_start"] for each in calls] == [11, 62, 14] * 2
    assert [each["memory_start"] for each in calls] == [0, 5, 0] * 2
    assert len({each["file_shape"] for each in calls}) == 2, "the shape stays"


def close_all_and_write() -> None:
    import time  # noqa: PLC0415

    f = h5py.File("x.h5", "w", driver="core", backing_store=True)
    f["d"] = np.arange(10)
    time.sleep(1)  # the trace has its file
    os.closerange(3, 100)
    mine = [os.open(f"mine{i}", os.O_CREAT | os.O_RDWR) for i in range(40)]
    for _ in range(3):
        f["d"][...] = 1
        time.sleep(0.6)
    assert all(os.fstat(each).st_size == 0 for each in mine)
    print("untouched", flush=True)
    os._exit(0)


def test_a_file_of_the_program_is_never_taken_for_the_trace(layer: Traced) -> None:
    layer = Traced(layer.folder, seats=("vol",))  # the program's file is in memory
    done = layer.python(close_all_and_write, HEADRACE_LOG_LEVEL="warning")
    assert done.out.decode() == "untouched\n"
    assert all(not each.read_bytes() for each in layer.folder.glob("mine*"))
    assert "the program has closed it" in layer.log
    assert Path(layer.output).is_dir()
