"""Logs that a process of its own puts in order after the program: canonicalise=background."""

from __future__ import annotations

import ctypes
import os
import random
import shutil
import signal
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import h5py
import numpy as np
import pytest
from harness.build import built
from harness.layer import Layer
from harness.run import run
from harness.seed import LONG, SEED
from harness.stack import CLEAN
from harness.until import until
from layers.log.later.background import (
    BACKGROUND,
    CHUNKS,
    Chunks,
    begin,
    check,
    check_ordinary,
    processes,
    wait,
    waits,
    write,
    write_and_close,
)

if TYPE_CHECKING:
    from harness.prefix import Hdf5

KILLS = 60 if LONG else 4


def write_and_exit(chunks: Chunks = CHUNKS) -> None:
    _open = begin(chunks)
    ctypes.CDLL(None).exit(0)


def await_line(layer: Layer, text: str) -> None:
    end = time.monotonic() + 30
    while text not in layer.log:
        assert time.monotonic() < end, layer.log
        time.sleep(0.01)


@pytest.mark.share(4)
@pytest.mark.parametrize("chunks", [None, CHUNKS])
@pytest.mark.parametrize("options", [BACKGROUND, BACKGROUND + "sync=true;"])
@pytest.mark.parametrize("program", [write_and_close, write_and_exit])
def test_a_file_is_an_ordinary_one_soon(
    layer: Layer, chunks: Chunks, options: str, program: Callable[[Chunks], None]
) -> None:
    layer.python(partial(program, chunks), options)
    wait(layer, "x.h5")
    assert layer.counted("writes_logged") >= 500
    assert layer.log.count("/x.h5 is in order") == 1, layer.log
    assert layer.plain(check_ordinary) == ""
    assert not [*layer.folder.glob("x.h5.*")]


def write_many(libver: str = "earliest", first: int = 0) -> None:
    with h5py.File("x.h5", "w", libver=libver) as f:
        d = f.create_dataset("d", (600, 1000), "i4", chunks=(10, 10), compression=1)
        d[:, ::2] = np.arange(600)[:, None] + np.arange(500) + first


def check_many(mode: str = "r", first: int = 0) -> None:
    with h5py.File("x.h5", mode) as f:
        d = f["d"][...]
        assert (d[:, ::2] == np.arange(600)[:, None] + np.arange(500) + first).all()
        assert not d[:, 1::2].any()


def change_meanwhile(layer: Layer, change: str) -> None:
    layer.python(write_many, BACKGROUND)
    while not [*layer.folder.glob("x.h5.headrace/*.log.h5.headrace")]:
        assert waits(layer), "it was too quick"
    (process,) = processes(layer)
    os.kill(process, signal.SIGSTOP)
    layer.plain(change)
    os.kill(process, signal.SIGCONT)
    await_line(layer, "it has been changed meanwhile")
    layer.python(partial(check_many, "r+"))


def test_a_plain_writer_without_locks(layer: Layer, monkeypatch: pytest.MonkeyPatch) -> None:
    """What it writes while the process is at work is not lost."""
    monkeypatch.setitem(CLEAN, "HDF5_USE_FILE_LOCKING", "FALSE")
    change_meanwhile(layer, "h5py.File('x.h5', 'r+')['new'] = 5")
    layer.plain(check_many)
    assert layer.value("f['new'][()]") == "5"


@pytest.mark.parametrize("change", ["os.link('x.h5', 'y.h5')", "os.chmod('x.h5', 0o600)"])
def test_names_and_modes_are_kept(layer: Layer, change: str) -> None:
    change_meanwhile(layer, change)
    layer.plain(check_many)
    file = layer.folder / "x.h5"
    if "link" in change:
        assert file.samefile(layer.folder / "y.h5")
    else:
        assert file.stat().st_mode & 0o777 == 0o600


def write_under_two_names() -> None:
    f, _d = begin()
    Path("y.h5").hardlink_to("x.h5")
    f.close()


def test_a_file_with_two_names(layer: Layer) -> None:
    write(layer, write_under_two_names)
    await_line(layer, "it has several names")
    assert waits(layer)
    layer.python("h5py.File('x.h5', 'r+')")
    assert layer.plain(partial(check, "y.h5")) == ""


def write_for_some_readers() -> None:
    f, _d = begin()
    Path("x.h5").chmod(0o640)
    os.setxattr("x.h5", "user.a", b"b")
    f.close()


def test_who_may_read_the_file(layer: Layer) -> None:
    write(layer, write_for_some_readers)
    wait(layer, "x.h5")
    assert (layer.folder / "x.h5").stat().st_mode & 0o777 == 0o640
    assert os.getxattr(layer.folder / "x.h5", "user.a") == b"b"
    assert layer.plain(check_ordinary) == ""


@pytest.mark.share(1)
@pytest.mark.parametrize("libver", ["earliest", "latest"])
def test_killed_at_any_moment(layer: Layer, libver: str) -> None:
    """The file is as it was or whole."""
    rng = random.Random(SEED)  # noqa: S311
    killed = 0
    for kill in range(KILLS):
        layer.python(partial(write_many, libver, kill), BACKGROUND)
        time.sleep(rng.random() * 0.4)
        for process in processes(layer):
            os.kill(process, signal.SIGKILL)
            killed += 1
        if kill % 2:
            layer.python(partial(check_many, "r", kill))
        layer.python(partial(check_many, "r+", kill))
        until(lambda: not processes(layer))
        assert layer.plain(partial(check_many, "r", kill)) == ""
        # Left by a kill between the file's last write and the removal of what it had needed.
        shutil.rmtree(layer.folder / "x.h5.headrace", ignore_errors=True)
    assert killed > KILLS / 4, "others had ended"


def write_and_die() -> None:
    f, _d = begin()
    f.flush()
    os._exit(0)


def test_a_program_that_is_killed(layer: Layer) -> None:
    """As with later: nothing is begun before the file is closed."""
    layer.python(write_and_die, BACKGROUND)
    assert waits(layer)
    assert not processes(layer)
    done = layer.start("h5py.File('x.h5')")
    assert "did not close it" in done.text
    layer.python(partial(check, mode="r+"), "recover=true;")
    assert layer.plain(check_ordinary) == ""


def close_often() -> None:
    h5py.File("x.h5", "w").create_dataset("d", (100, 60), "i4", chunks=(7, 11))
    for k in range(100):
        with h5py.File("x.h5", "r+") as f:
            f["d"][k, ::2] = k
            f["d"][k, 1::3] = -k
        with h5py.File("x.h5") as f:
            assert (f["d"][k, ::6] == k).all()


def check_rows() -> None:
    d = np.zeros((100, 60))
    d[:, ::2] = np.arange(100)[:, None]
    d[:, 1::3] = -np.arange(100)[:, None]
    assert (h5py.File("x.h5")["d"][...] == d).all()


def test_closed_a_hundred_times(layer: Layer) -> None:
    layer.python(close_often, BACKGROUND, limit=200)
    wait(layer, "x.h5")
    assert layer.counted("writes_logged") >= 100
    assert layer.plain(check_rows) == ""


def write_and_fork() -> None:
    files = [h5py.File(f"{k}.h5", "w") for k in range(5)]
    for k, f in enumerate(files):
        f.create_dataset("d", (50, 50), "i4")[:, ::2] = k
    for f in files[:2]:
        f.close()
    if os.fork() == 0:
        with h5py.File("5.h5", "w") as f:
            f.create_dataset("d", (50, 50), "i4")[:, ::2] = 5
        os._exit(0)
    os.wait()
    for f in files[2:4]:
        f["d"][:, ::2] = f.filename[0]
    for f in files[2:4]:
        f.close()


def check_six_files() -> None:
    for k in range(6):
        d = h5py.File(f"{k}.h5")["d"]
        assert (d[:, ::2] == k).all(), k
        assert not d[:, 1::2].any(), k


def test_several_files_and_a_fork(layer: Layer) -> None:
    layer.python(write_and_fork, BACKGROUND)
    wait(layer, *(f"{k}.h5" for k in range(6)))
    assert layer.log.count(" is in order") >= 4, layer.log
    layer.plain(check_six_files)


def test_a_serial_program_of_a_parallel_library(layer: Layer, hdf5: Hdf5) -> None:
    """HDF5 itself closes the file, by H5close() and at the end of the process."""
    program = built(f"tests/layers/log/ends_{hdf5.mpi}")
    assert program.exists(), f"{program} is not built"
    done = run([program, "x.h5"], env=layer.env(BACKGROUND), cwd=layer.folder, limit=60)
    assert done.status == 0, done.text
    assert layer.loads
    wait(layer, "x.h5")
    assert layer.log.count("/x.h5 is in order") == 3, layer.log
    layer.plain("assert (h5py.File('x.h5')['d'][...] == np.arange(90) % 3 + 1).all()")
