"""What other processes see of files that are written behind a program, and what ends leave."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import h5py
import numpy as np
import pytest
from harness.program import text_of
from harness.stack import CLEAN

if TYPE_CHECKING:
    from harness.layer import Layer

HERE = Path(__file__).parent


def die_after_a_flush() -> None:
    f = h5py.File("x.h5", "w")
    d = f.create_dataset("d", shape=(40, 100_000), dtype="f8", fillvalue=-1)
    for i in range(40):
        d[i] = i
        f[f"a/{i}"] = np.full(20_000, i)
    f.flush()
    d[:] = 99
    os.kill(os.getpid(), signal.SIGKILL)


def require_flushed() -> None:
    with h5py.File("x.h5") as f:
        d = f["d"][:]
        assert ((d == np.arange(40.0)[:, None]) | (d == 99)).all()
        for i in range(40):
            assert (f[f"a/{i}"][:] == i).all()


def test_flushed_data_survives_a_kill(layer: Layer) -> None:
    done = layer.start(die_after_a_flush, "flush_interval=0;")
    assert done.status == -signal.SIGKILL
    layer.plain(require_flushed)


def require_files_of_the_pool() -> None:
    for i in range(4):
        assert h5py.File(f"child{i}.h5")["n"][:].sum() == i * 100_000
    with h5py.File("other.h5") as f:
        k = f["k"][:]
        assert k[7] == 70
        assert k.sum() - 63 == np.arange(1_000_000).sum()
        assert f["l"][()] == 5


@pytest.mark.parametrize("start", ["fork", "forkserver", "spawn"])
def test_multiprocessing(layer: Layer, start: str) -> None:
    done = layer.command([sys.executable, HERE / "programs/pool.py", start])
    assert done.status == 0, done.text
    layer.plain(require_files_of_the_pool)


def fork_with_data_staged() -> None:
    f = h5py.File("x.h5", "w")
    d = f.create_dataset("d", data=np.zeros(3_000_000))
    d[:] = 1
    pid = os.fork()
    if pid == 0:
        assert (d[:] == 1).all()
        os._exit(0)
    d[:10] = 2
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    f.close()


def test_fork_with_data_staged(layer: Layer) -> None:
    """The child neither loses nor repeats what its parent had staged."""
    layer.python(fork_with_data_staged)
    assert layer.plain('d = h5py.File("x.h5")["d"][:]; print(d.sum())') == "3000010.0"


def tell_what_is_seen() -> None:
    """A line for each one that comes."""
    with h5py.File("x.h5", "r", swmr=True, libver="latest") as f:
        for _ in sys.stdin:
            f["d"].refresh()
            print(f["d"].shape[0], f["d"][:].sum(), flush=True)


def append_beside_a_reader(reading: str) -> None:
    f = h5py.File("x.h5", "w", libver="latest")
    d = f.create_dataset("d", shape=(0,), maxshape=(None,), chunks=(1000,), dtype="i8")
    d.resize((10,))
    d[:] = 1
    f.swmr_mode = True
    reader = subprocess.Popen(
        [sys.executable, "-c", reading],
        env=CLEAN,
        text=True,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert reader.stdin is not None
    assert reader.stdout is not None
    for i in range(1, 6):
        d.resize((i * 5000,))
        d[:] = i
        d.flush()
        reader.stdin.write("x\n")
        reader.stdin.flush()
        seen = reader.stdout.readline().split()
        assert seen == [str(i * 5000), str(i * i * 5000)], (i, seen)
    reader.stdin.close()
    assert reader.wait() == 0
    f.close()


def test_readers_beside_a_swmr_writer(layer: Layer) -> None:
    """They see what was flushed at once, and nothing is staged any more."""
    layer.python(partial(append_beside_a_reader, text_of(tell_what_is_seen)))
    assert layer.plain('print(h5py.File("x.h5")["d"][:].sum())') == "125000"
    (told,) = layer.statistics("vfd")
    assert told["written_bytes"] < 100_000, "only what was written before the switch"


def be_terminated() -> None:
    f = h5py.File("x.h5", "w")
    f["a"] = [1.0] * 1000
    os.kill(os.getpid(), signal.SIGTERM)


def test_a_killed_writer_ends(layer: Layer) -> None:
    """A process that dies leaves no thread behind that keeps the file."""
    assert layer.start(be_terminated, limit=20).status == -signal.SIGTERM
