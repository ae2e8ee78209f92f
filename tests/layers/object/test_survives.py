"""What was flushed is there, whatever ends the program."""

from __future__ import annotations

import builtins
import ctypes
import os
import resource
import signal
import subprocess
import sys
import threading
from functools import partial
from typing import Any

import h5py
import numpy as np
import pytest
from harness.layer import Layer


def flush_and_die() -> None:
    f = h5py.File("x.h5", "w")
    d = f.create_dataset("d", (400, 1000), "f8", chunks=(10, 100), compression=1)
    words = f.create_dataset("words", (50,), h5py.string_dtype())
    for turn in range(1, 6):
        d[: turn * 50] = turn
        words[turn] = str(turn) * 100_000
        f.create_group(f"g{turn}").attrs["turn"] = turn
        f.flush()
    d[...] = 99
    f.create_group("lost")
    os.kill(os.getpid(), signal.SIGKILL)


def look() -> None:
    with h5py.File("x.h5", "r") as f:
        assert sorted(f) == ["d", *(f"g{turn}" for turn in range(1, 6)), "words"]
        assert [f[f"g{turn}"].attrs["turn"] for turn in range(1, 6)] == [1, 2, 3, 4, 5]
        assert set(np.unique(f["d"][:250])) <= {5.0, 99.0}
        assert [f["words"][turn] for turn in range(1, 6)] == [
            str(turn).encode() * 100_000 for turn in range(1, 6)
        ]


def test_kill_after_a_flush(object_layer: Layer) -> None:
    done = object_layer.start(flush_and_die)
    assert done.status == -signal.SIGKILL, done.text
    object_layer.python(look)


def cut_twice(part: str) -> None:
    if part == "write":
        f = h5py.File("x.h5", "w")
        d = f.create_dataset("d", (10,), "i4", chunks=(10,), maxshape=(None,))
        d[...] = 1
        f.flush()
        d.resize((5,))
        d.resize((10,))
        d[...] = 2
        d.id.get_storage_size()  # chunks are stored, and the program dies before its flush
        os.kill(os.getpid(), signal.SIGKILL)
    d = h5py.File("x.h5", "r+")["d"]
    d.resize((5,))
    d.resize((10,))
    assert d[5:].tolist() == [0] * 5


def change_a_word(part: str) -> None:
    if part == "write":
        with h5py.File("x.h5", "w") as f:
            f.create_dataset("d", (10,), h5py.string_dtype(), chunks=(10,))[...] = ["old"] * 10
        d = h5py.File("x.h5", "r+")["d"]
        d[3] = "new"
        d.id.get_num_chunks()
        os.kill(os.getpid(), signal.SIGKILL)
    assert h5py.File("x.h5", "r")["d"][3] in (b"old", b"new")


@pytest.mark.parametrize("program", [cut_twice, change_a_word])
def test_kill_between_chunks_and_headers(object_layer: Layer, program: Any) -> None:
    assert object_layer.start(partial(program, "write")).status == -signal.SIGKILL
    object_layer.python(partial(program, "look"))


def end_without_closing() -> None:
    f = h5py.File("x.h5", "w")
    f["d"] = np.full(1000, 5)
    f.create_dataset("x", (5,), "i4", chunks=(2,), scaleoffset=0)[...] = 3
    ctypes.CDLL(None).exit(0)  # without h5py's function for the end


def end_after_another_file() -> None:
    """Whose native file is kept for the next one."""
    with h5py.File("y.h5", "w") as y:
        y["x"] = 1
        assert list(y) == ["x"]  # HDF5 asks its native file
    f = h5py.File("x.h5", "w")
    f["d"] = np.full(1000, 5)
    left = f.create_dataset("x", (5,), "i4", chunks=(2,))
    left[...] = 3
    ctypes.CDLL(None).exit(0)


def close_one_of_two() -> None:
    f, g = h5py.File("x.h5", "w"), h5py.File("x.h5", "r+")
    f["d"] = np.full(1000, 5)
    f["x"] = [3] * 5
    f.close()
    assert g
    os.kill(os.getpid(), signal.SIGKILL)


@pytest.mark.parametrize("program", [end_without_closing, end_after_another_file, close_one_of_two])
def test_what_was_closed_or_ended_is_written(object_layer: Layer, program: Any) -> None:
    done = object_layer.start(program)
    assert done.status in (0, -signal.SIGKILL), done.text
    look = "f = h5py.File('x.h5')\nprint(f['d'][:].sum(), f['x'][:].sum())"
    assert object_layer.python(look).out == b"5000 15\n"


def fill_the_disk() -> None:
    f = h5py.File("x.h5", "w")
    f["small"] = 1
    f.flush()
    d = f.create_dataset("d", (8, 1000, 1000), "u1", chunks=(1, 1000, 1000))
    d[...] = 3
    f["later"] = 2
    resource.setrlimit(resource.RLIMIT_FSIZE, (500_000, resource.RLIM_INFINITY))
    for _ in range(2):
        with pytest.raises(RuntimeError, match="cannot be written: File too large"):
            f.flush()
    with pytest.raises(RuntimeError, match="File too large"):
        f.close()


def test_a_full_disk_loses_nothing_that_was_flushed(object_layer: Layer) -> None:
    done = object_layer.python(fill_the_disk)
    assert "Fatal" not in done.text
    look = "f = h5py.File('x.h5')\nprint(f['small'][()], set(np.unique(f['d'][:])) - {0})"
    told = object_layer.python(look).out.decode()
    assert told == "1 set()\n", told


def cut_by_another() -> None:
    f = h5py.File("x.h5", "w")
    d = f.create_dataset("d", data=np.arange(10), chunks=(10,), maxshape=(None,))
    f.flush()
    other = (
        "import h5py\nwith h5py.File('x.h5', 'r+') as f:\n  f['d'].resize((5,))\n"
        "  f['d'].resize((10,))"
    )
    subprocess.run([sys.executable, "-c", other], check=True)
    d.attrs["mine"] = 1
    f.flush()
    d[7] = 77
    f.close()
    with h5py.File("x.h5") as f:
        assert f["d"][:].tolist() == [0, 1, 2, 3, 4, 0, 0, 77, 0, 0]


def test_another_cuts_meanwhile(object_layer: Layer) -> None:
    object_layer.python(cut_by_another)


def leave_open() -> None:
    f = h5py.File("x.h5", "w")
    d = f.create_dataset("d", (1000,), "i4", chunks=(100,))
    d[...] = 5
    builtins.__dict__["kept"] = f, d


def close_the_file_first() -> None:
    f = h5py.File("x.h5", "w", locking=False)
    d = f.create_dataset("d", (1000,), "i4", chunks=(100,))
    f.id.close()
    d[...] = 5


@pytest.mark.parametrize("program", [leave_open, close_the_file_first])
def test_what_the_program_leaves_open_is_written(object_layer: Layer, program: Any) -> None:
    object_layer.python(program)
    assert object_layer.python("print(h5py.File('x.h5')['d'][:].sum())").out == b"5000\n"


def fork_with_it_open() -> None:
    f = h5py.File("x.h5", "w")
    d = f.create_dataset("d", (1000,), "i4", chunks=(100,))
    d[...] = 1
    done, go_on = os.pipe()
    child = os.fork()
    if child == 0:
        assert d[3] == 1
        with pytest.raises(OSError, match="before a fork"):
            d[3] = 4
        os.read(done, 1)
        sys.exit()  # which closes the file
    d[...] = 2
    f["e"] = 1
    f.close()
    os.write(go_on, b"x")
    assert os.waitpid(child, 0)[1] == 0
    with h5py.File("x.h5") as f:
        assert sorted(f) == ["d", "e"]
        assert (f["d"][...] == 2).all()


def test_a_child_reads_and_leaves_it_alone(object_layer: Layer) -> None:
    object_layer.python(fork_with_it_open)


def by_threads() -> None:
    with h5py.File("x.h5", "w") as f:

        def fill(which: int) -> None:
            for i in range(40):
                f[f"{which}/{i}"] = np.full(2000, i)

        threads = [threading.Thread(target=fill, args=(which,)) for which in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    with h5py.File("x.h5") as f:
        assert all((f[f"{w}/{i}"][...] == i).all() for w in range(4) for i in range(40))


def test_threads(object_layer: Layer) -> None:
    object_layer.python(by_threads)
