"""Logs of ranks that a process of its own puts in order: canonicalise=background over MPI."""

from __future__ import annotations

import os
import shutil
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from itertools import count
from pathlib import Path
from random import Random
from threading import Thread

import pytest
from harness.layer import Layer
from harness.prefix import Hdf5
from harness.seed import SEED
from harness.until import until
from layers.log.later.background import HELD, Elsewhere, processes, wait
from layers.log.ranks.kept_by_ranks import (
    FILES,
    NONE,
    logs_of,
    put_in_order,
    require,
    require_in_order,
    succeed,
)

BACKGROUND = "headrace_log canonicalise=background;mpi_logs=rank;under_vol=0;under_info={}"
NODE = BACKGROUND.replace("mpi_logs=rank", "mpi_logs=node")
LEFT = ("left.h5",)

everywhere = pytest.mark.parametrize(
    ("hdf5", "ranks"), [("1.14.5-openmpi", 2), ("2.2.0-mpich", 2)], indirect=["hdf5"]
)


@pytest.fixture
def elsewhere(tmp_path: Path) -> Elsewhere:
    return Elsewhere(tmp_path, "log")


def leave(layer: Layer, hdf5: Hdf5, ranks: int) -> None:
    """A file that is closed when MPI ends."""
    succeed(layer, hdf5, ranks, "mpi_logs", "forget", connector=BACKGROUND)


@everywhere
@pytest.mark.parametrize("connector", [BACKGROUND, NODE], ids=["rank", "node"])
def test_files_are_in_order_soon(layer: Layer, hdf5: Hdf5, ranks: int, connector: str) -> None:
    succeed(layer, hdf5, ranks, "mpi_logs", "write", "0", connector=connector)
    wait(layer, *FILES)
    assert layer.log.count(" is in order") >= 1, layer.log
    require_in_order(layer, *FILES)


@contextmanager
def put_in_order_when_awaited(elsewhere: Elsewhere, by: int) -> Iterator[None]:
    """Logs begin to be put in order when so many wait for it, and no more do later."""
    before = waiting(elsewhere)

    def begin() -> None:
        try:
            until(lambda: waiting(elsewhere) == before + by)
        finally:
            (elsewhere.folder / "go").touch()

    thread = Thread(target=begin)
    thread.start()
    try:
        yield
    finally:
        thread.join()
    assert waiting(elsewhere) == before + by


def waiting(layer: Layer) -> int:
    return layer.log.count("waiting until log")


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
        with put_in_order_when_awaited(elsewhere, by=3 if by_ranks else 1):
            if by_ranks:
                succeed(elsewhere, hdf5, 3, "mpi_kept", "open", "left.h5", connector=NONE)
            else:
                elsewhere.python("h5py.File('left.h5', 'r+').close(); assert os.path.exists('go')")
        require(elsewhere, LEFT, marked=False)
        assert not logs_of(elsewhere, "left.h5")
    assert elsewhere.log.count("/left.h5 is in order") == 2, elsewhere.log


@everywhere
@pytest.mark.parametrize("connector", [BACKGROUND, NODE], ids=["rank", "node"])
def test_opened_again_at_once(layer: Layer, hdf5: Hdf5, ranks: int, connector: str) -> None:
    succeed(layer, hdf5, ranks, "mpi_kept", "again", "x.h5", connector=connector)
    wait(layer, "x.h5")
    text = "f = h5py.File('x.h5'); print(set(f['d'][:].tolist()), *f.attrs)"
    assert layer.plain(text) == "{4}"
    assert layer.log.count("/x.h5 is in order") == 5, layer.log


one = pytest.mark.parametrize("hdf5", ["1.14.5-openmpi"], indirect=True)


@one
def test_killed_at_any_moment(elsewhere: Elsewhere, hdf5: Hdf5) -> None:
    elsewhere.install(HELD)
    random = Random(SEED)  # noqa: S311
    killed = 0
    latest = 0.02
    for attempt in count():
        if attempt >= 3 and killed:
            break
        (elsewhere.folder / "go").unlink(missing_ok=True)
        leave(elsewhere, hdf5, 3)
        (elsewhere.folder / "go").touch()
        until(lambda: processes(elsewhere) or not logs_of(elsewhere, "left.h5"))
        time.sleep(random.random() * latest)
        for process in processes(elsewhere):
            with suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
        if logs_of(elsewhere, "left.h5"):
            killed += 1
        else:
            latest /= 2  # Machines differ in how soon a process that may go on has ended.
        elsewhere.python(partial(put_in_order, *LEFT))
        require(elsewhere, LEFT, marked=False)
        # Left by a kill between the file's last write and the removal of what it had needed.
        shutil.rmtree(elsewhere.folder / "left.h5.headrace", ignore_errors=True)


@one
def test_the_process_cannot_be_started(elsewhere: Elsewhere, hdf5: Hdf5) -> None:
    elsewhere.install(None)
    leave(elsewhere, hdf5, 2)
    assert elsewhere.log.count("is not put in order in the background") == 1, elsewhere.log
    assert len(logs_of(elsewhere, "left.h5")) == 2
    succeed(elsewhere, hdf5, 3, "mpi_kept", "open", "left.h5", connector=NONE)
    require(elsewhere, LEFT, marked=False)
