"""Logs of ranks that a process of its own puts in order: canonicalise=background over MPI."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path
from random import Random
from threading import Timer

import pytest
from harness.prefix import Hdf5
from log.background import HELD, Elsewhere, processes, wait
from log.kept_by_ranks import FILES, NONE, REPLAY, logs_of, require, succeed
from log_layer import Log

BACKGROUND = "headrace_log canonicalise=background;mpi_logs=rank;under_vol=0;under_info={}"
NODE = BACKGROUND.replace("mpi_logs=rank", "mpi_logs=node")
LEFT = ("left.h5",)

everywhere = pytest.mark.parametrize(
    ("hdf5", "ranks"), [("1.14.5-openmpi", 2), ("2.2.0-mpich", 2)], indirect=["hdf5"]
)


@pytest.fixture
def elsewhere(tmp_path: Path) -> Elsewhere:
    return Elsewhere(tmp_path)


def leave(layer: Log, hdf5: Hdf5, ranks: int) -> None:
    """A file that is closed when MPI ends."""
    succeed(layer, hdf5, ranks, "mpi_logs", "forget", connector=BACKGROUND)


@everywhere
@pytest.mark.parametrize("connector", [BACKGROUND, NODE], ids=["rank", "node"])
def test_files_are_in_order_soon(layer: Log, hdf5: Hdf5, ranks: int, connector: str) -> None:
    succeed(layer, hdf5, ranks, "mpi_logs", "write", "0", connector=connector)
    wait(layer, *FILES)
    assert layer.log.count(" is in order") >= 1, layer.log
    require(layer, FILES, marked=False)
    assert not list(layer.folder.glob("*.headrace"))


@everywhere
def test_who_opens_it_meanwhile(elsewhere: Elsewhere, hdf5: Hdf5, ranks: int) -> None:
    """Readers need not wait; writers do, be they ranks or one process."""
    elsewhere.install(HELD)
    for by_ranks in (True, False):
        (elsewhere.folder / "go").unlink(missing_ok=True)
        leave(elsewhere, hdf5, ranks)
        succeed(elsewhere, hdf5, 3, "mpi_kept", "read", "left.h5", connector=NONE)
        require(elsewhere, LEFT, marked=True)
        assert len(logs_of(elsewhere, "left.h5")) == ranks
        waited = elsewhere.log.count("waiting until log")
        Timer(0.7, (elsewhere.folder / "go").touch).start()
        if by_ranks:
            succeed(elsewhere, hdf5, 3, "mpi_kept", "open", "left.h5", connector=NONE)
        else:
            elsewhere.python("h5py.File('left.h5', 'r+').close(); assert os.path.exists('go')")
        assert elsewhere.log.count("waiting until log") - waited == (3 if by_ranks else 1)
        require(elsewhere, LEFT, marked=False)
        assert not logs_of(elsewhere, "left.h5")
    assert elsewhere.log.count("/left.h5 is in order") == 2, elsewhere.log


@everywhere
@pytest.mark.parametrize("connector", [BACKGROUND, NODE], ids=["rank", "node"])
def test_opened_again_at_once(layer: Log, hdf5: Hdf5, ranks: int, connector: str) -> None:
    succeed(layer, hdf5, ranks, "mpi_kept", "again", "x.h5", connector=connector)
    wait(layer, "x.h5")
    text = "f = h5py.File('x.h5'); print(set(f['d'][:].tolist()), *f.attrs)"
    assert layer.plain(text) == "{4}"
    assert layer.log.count("/x.h5 is in order") == 5, layer.log


one = pytest.mark.parametrize("hdf5", ["1.14.5-openmpi"], indirect=True)


@one
def test_killed_at_any_moment(elsewhere: Elsewhere, hdf5: Hdf5) -> None:
    elsewhere.install(HELD)
    random = Random(3)  # noqa: S311
    killed = 0
    for _ in range(3):
        (elsewhere.folder / "go").unlink(missing_ok=True)
        leave(elsewhere, hdf5, 3)
        (elsewhere.folder / "go").touch()
        while not (found := processes(elsewhere)) and logs_of(elsewhere, "left.h5"):
            pass
        time.sleep(random.random() * 0.02)
        for process in found:
            os.kill(process, signal.SIGKILL)
        killed += bool(logs_of(elsewhere, "left.h5"))
        elsewhere.python(f"names = {LEFT!r}\n{REPLAY}")
        require(elsewhere, LEFT, marked=False)
        assert not list(elsewhere.folder.glob("*.headrace"))
    assert killed > 0, "others had ended"


@one
def test_the_process_cannot_be_started(elsewhere: Elsewhere, hdf5: Hdf5) -> None:
    elsewhere.install(None)
    leave(elsewhere, hdf5, 2)
    assert elsewhere.log.count("is not put in order in the background") == 1, elsewhere.log
    assert len(logs_of(elsewhere, "left.h5")) == 2
    succeed(elsewhere, hdf5, 3, "mpi_kept", "open", "left.h5", connector=NONE)
    require(elsewhere, LEFT, marked=False)
