"""Files over MPI whose logs outlive the program: mpi_logs=rank and canonicalise=later."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import time
from functools import partial
from random import Random

import h5py
import pytest
from harness.layer import Layer
from harness.prefix import Hdf5
from harness.ranks import begin
from harness.seed import LONG, SEED
from harness.until import until
from layers.log.ranks.kept_by_ranks import (
    FILES,
    LATER,
    NONE,
    check,
    copy_with_logs,
    logs_of,
    put_in_order,
    require,
    require_in_order,
    start,
    succeed,
)

pytestmark = pytest.mark.sanitized

MPI = [("1.14.5-openmpi", 2), ("1.14.5-openmpi", 4), ("2.2.0-mpich", 2), ("2.2.0-mpich", 4)]
everywhere = pytest.mark.parametrize(("hdf5", "ranks"), MPI, indirect=["hdf5"])


@pytest.mark.share(1)
@everywhere
@pytest.mark.parametrize("seed", range(2))
def test_random_programs(layer: Layer, hdf5: Hdf5, ranks: int, seed: int) -> None:
    """Read by one process and by ranks, put in order by one process and by other ranks."""
    succeed(layer, hdf5, ranks, "mpi_logs", "write", str(seed))
    waiting = tuple(name for name in FILES if logs_of(layer, name))
    assert waiting, "no program ended with writes"
    for name in waiting:
        assert len(logs_of(layer, name)) == ranks
        copy_with_logs(layer, name, f"copy-{name}")
    require(layer, waiting, marked=True)
    succeed(layer, hdf5, 3, "mpi_kept", "read", waiting[0], connector=NONE)
    for name in waiting:
        succeed(layer, hdf5, 3, "mpi_kept", "open", name)
    copies = tuple(f"copy-{name}" for name in waiting)
    layer.python(partial(put_in_order, *copies))
    require_in_order(layer, *FILES, *copies)


def test_metadata_is_read_collectively(layer: Layer, hdf5: Hdf5) -> None:
    """Who writes, reads or puts in order more than others waits for none."""
    together = {"COLLECTIVE_METADATA": "1"}
    succeed(layer, hdf5, 3, "mpi_logs", "uneven", "1", **together)
    assert len(logs_of(layer, "uneven.h5")) == 3
    require(layer, ("uneven.h5",), marked=True)
    succeed(layer, hdf5, 2, "mpi_kept", "alone", "uneven.h5", connector=NONE, **together)
    succeed(layer, hdf5, 2, "mpi_kept", "open", "uneven.h5", **together)
    require(layer, ("uneven.h5",), marked=False)


@pytest.mark.share(2)
@everywhere
@pytest.mark.parametrize("seed", range(2))
def test_calls_that_look_at_data(layer: Layer, hdf5: Hdf5, ranks: int, seed: int) -> None:
    succeed(layer, hdf5, ranks, "mpi_logs", "calls", str(seed))
    layer.python(partial(put_in_order, "calls.h5"))
    require(layer, ("calls.h5",), marked=False)


@everywhere
def test_a_file_that_is_left_open(layer: Layer, hdf5: Hdf5, ranks: int) -> None:
    succeed(layer, hdf5, ranks, "mpi_logs", "forget")
    assert len(logs_of(layer, "left.h5")) == ranks
    require(layer, ("left.h5",), marked=True)


@everywhere
def test_a_crash_leaves_what_was_flushed(layer: Layer, hdf5: Hdf5, ranks: int) -> None:
    start(layer, hdf5, ranks, "mpi_logs", "crash")
    assert len(logs_of(layer, "left.h5")) == ranks
    said = layer.start(partial(check, "left.h5"))
    assert said.status != 0
    assert "did not close it" in said.text
    layer.python(partial(put_in_order, "left.h5"), "recover=true;")
    require(layer, ("left.h5",), marked=False)


def check_steps(flushed: int) -> None:
    with h5py.File("x.h5") as file:
        found = file["d"][()]
        assert "_headrace_log" not in file.attrs
    assert not found[1::2].any()
    written = found[::2].reshape(-1, 100)
    steps, ranks = written // 1000, written % 1000
    shared, own = steps[:3], steps[3:].reshape(-1, 200)
    # The flush of a step may be done before rank 0 says so, and others in the next one.
    done = steps.min()
    seen = (flushed, done, steps.max())
    assert done in (flushed, flushed + 1), seen
    assert steps.max() <= done + 1, seen
    assert (ranks[:3][shared == done] == len(own) - 1).all(), "the last rank wins"
    assert all((ranks[3:].reshape(-1, 200)[rank] == rank).all() for rank in range(len(own)))
    print("right")


def open_plainly() -> None:
    try:
        h5py.File("x.h5").close()
    except OSError:
        print("unopenable")


def killed_amid_steps(layer: Layer, hdf5: Hdf5, connector: str, random: Random) -> int:
    """The last step that was flushed for sure, of three ranks."""
    before = len(layer.loads)
    steps = layer.folder / "x.h5.steps"
    steps.unlink(missing_ok=True)
    wanted = random.randrange(1, 12)
    with begin(layer, hdf5, 3, "mpi_kept", "steps", "x.h5", connector=connector) as started:
        try:
            until(
                lambda: (
                    (steps.exists() and steps.stat().st_size >= wanted)
                    or started.poll() is not None
                )
            )
            time.sleep(random.random() * 0.02)
        finally:
            for load in layer.loads[before:]:
                with contextlib.suppress(ProcessLookupError):  # killed by its launcher
                    os.kill(load["pid"], signal.SIGKILL)
            if len(layer.loads) == before:
                started.kill()  # it waits for ranks
    return steps.stat().st_size


def recovers_from_kills(
    layer: Layer, hdf5: Hdf5, connector: str, logs: int, random: Random
) -> bool:
    """False where HDF5 was writing the marker, and a part of its metadata is missing."""
    shutil.rmtree(layer.folder / "x.h5.headrace", ignore_errors=True)
    flushed = killed_amid_steps(layer, hdf5, connector, random)
    if "unopenable" in layer.plain(open_plainly):
        return False
    assert len(logs_of(layer, "x.h5")) == logs
    layer.python(partial(put_in_order, "x.h5"), "recover=true;")
    assert layer.plain(partial(check_steps, flushed)) == "right"
    return True


def test_kills_lose_nothing_that_was_flushed(layer: Layer, hdf5: Hdf5) -> None:
    random, kills = Random(SEED), 40 if LONG else 4  # noqa: S311
    recovered = sum(recovers_from_kills(layer, hdf5, LATER, 3, random) for _ in range(kills))
    assert recovered >= kills // 2


@everywhere
def test_a_file_that_is_open_twice(layer: Layer, hdf5: Hdf5, ranks: int) -> None:
    """And had logs of a file that was there before: these went with it."""
    succeed(layer, hdf5, ranks, "mpi_logs", "forget")
    assert logs_of(layer, "left.h5")
    succeed(layer, hdf5, ranks, "mpi_kept", "twice", "left.h5")
    assert not logs_of(layer, "left.h5")
    text = "f = h5py.File('left.h5'); print(set(f['d'][:].tolist()), *f.attrs)"
    assert layer.plain(text) == "{2}"


@pytest.mark.parametrize("ranks", [1, 3])
def test_what_was_read_before_it_was_flushed_is_not_recovered(
    layer: Layer, hdf5: Hdf5, ranks: int
) -> None:
    start(layer, hdf5, ranks, "mpi_kept", "unflushed", "x.h5")
    assert len(logs_of(layer, "x.h5")) == ranks
    layer.python(partial(put_in_order, "x.h5"), "recover=true;")
    text = "f = h5py.File('x.h5'); print(*f, *f.attrs, set(f['d'][:].tolist()))"
    assert layer.plain(text) == "d {2}"


def test_a_crash_amid_putting_in_order(layer: Layer, hdf5: Hdf5) -> None:
    """What was written since the flush is there in the order of the writes, or not at all."""
    done = start(layer, hdf5, 1, "mpi_kept", "settling", "x.h5")
    assert done.status != 0
    assert "alive" not in done.text, done.text
    before = layer.plain("print(*h5py.File('x.h5')['d'][:2])")
    assert before == "2 3", "not amid it"
    layer.python(partial(put_in_order, "x.h5"), "recover=true;")
    text = "f = h5py.File('x.h5'); print(*f.attrs, *f['d'][:2], f['d'][-1])"
    assert layer.plain(text) in {"1 0 1", "2 0 1", "2 3 1"}


@pytest.mark.parametrize("damage", ["gone", "another's", "cut off"])
def test_one_of_the_logs_is_wrong(layer: Layer, hdf5: Hdf5, damage: str) -> None:
    """One process and ranks say so; nothing is put in order."""
    succeed(layer, hdf5, 2, "mpi_logs", "forget")
    first, second = logs_of(layer, "left.h5")
    kept = second.read_bytes()
    if damage == "gone":
        second.unlink()
    elif damage == "another's":
        shutil.copy(first, second)
    else:
        second.write_bytes(kept[:-1])
    before = (layer.folder / "left.h5").read_bytes()
    said = layer.start(partial(put_in_order, "left.h5"))
    assert said.status != 0
    assert str(second) in said.text
    succeed(layer, hdf5, 3, "mpi_kept", "part", "left.h5")
    assert (layer.folder / "left.h5").read_bytes() == before
    second.write_bytes(kept)
    succeed(layer, hdf5, 3, "mpi_kept", "open", "left.h5")
    require(layer, ("left.h5",), marked=False)
