"""Files over MPI whose logs outlive the program: mpi_logs=rank and canonicalise=later."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import time
from random import Random

import pytest
from harness.prefix import Hdf5
from log.kept_by_ranks import (
    CHECK,
    FILES,
    LATER,
    NONE,
    REPLAY,
    logs_of,
    require,
    start,
    succeed,
)
from log_layer import PLUGINS, Log
from parallel.together import built, env_of

MPI = [("1.14.5-openmpi", 2), ("1.14.5-openmpi", 4), ("2.2.0-mpich", 2), ("2.2.0-mpich", 4)]
everywhere = pytest.mark.parametrize(("hdf5", "ranks"), MPI, indirect=["hdf5"])


@everywhere
@pytest.mark.parametrize("seed", range(2))
def test_random_programs(layer: Log, hdf5: Hdf5, ranks: int, seed: int) -> None:
    """Read by one process and by ranks, put in order by one process and by other ranks."""
    succeed(layer, hdf5, ranks, "mpi_logs", "write", str(seed))
    waiting = tuple(name for name in FILES if logs_of(layer, name))
    assert waiting, "no program ended with writes"
    for name in waiting:
        assert len(logs_of(layer, name)) == ranks
        shutil.copy(layer.folder / name, layer.folder / f"copy-{name}")
        shutil.copytree(layer.folder / f"{name}.headrace", layer.folder / f"copy-{name}.headrace")
        for expected in layer.folder.glob(f"{name}.*.expected"):
            shutil.copy(expected, layer.folder / f"copy-{expected.name}")
    require(layer, waiting, marked=True)
    succeed(layer, hdf5, 3, "mpi_kept", "read", waiting[0], connector=NONE)
    for name in waiting:
        succeed(layer, hdf5, 3, "mpi_kept", "open", name)
    copies = tuple(f"copy-{name}" for name in waiting)
    layer.python(f"names = {copies!r}\n{REPLAY}")
    require(layer, FILES + copies, marked=False)
    assert not list(layer.folder.glob("*.headrace")), "no log is left"


def test_metadata_is_read_collectively(layer: Log, hdf5: Hdf5) -> None:
    """Who writes, reads or puts in order more than others waits for none."""
    together = {"COLLECTIVE_METADATA": "1"}
    succeed(layer, hdf5, 3, "mpi_logs", "uneven", "1", **together)
    assert len(logs_of(layer, "uneven.h5")) == 3
    require(layer, ("uneven.h5",), marked=True)
    succeed(layer, hdf5, 2, "mpi_kept", "alone", "uneven.h5", connector=NONE, **together)
    succeed(layer, hdf5, 2, "mpi_kept", "open", "uneven.h5", **together)
    require(layer, ("uneven.h5",), marked=False)


@everywhere
@pytest.mark.parametrize("seed", range(2))
def test_calls_that_look_at_data(layer: Log, hdf5: Hdf5, ranks: int, seed: int) -> None:
    succeed(layer, hdf5, ranks, "mpi_logs", "calls", str(seed))
    layer.python(f"names = ['calls.h5']\n{REPLAY}")
    require(layer, ("calls.h5",), marked=False)


@everywhere
def test_a_file_that_is_left_open(layer: Log, hdf5: Hdf5, ranks: int) -> None:
    succeed(layer, hdf5, ranks, "mpi_logs", "forget")
    assert len(logs_of(layer, "left.h5")) == ranks
    require(layer, ("left.h5",), marked=True)


@everywhere
def test_a_crash_leaves_what_was_flushed(layer: Log, hdf5: Hdf5, ranks: int) -> None:
    start(layer, hdf5, ranks, "mpi_logs", "crash")
    assert len(logs_of(layer, "left.h5")) == ranks
    said = layer.start(f"names = ['left.h5']\n{CHECK}")
    assert said.status != 0
    assert "did not close it" in said.text
    layer.python(f"names = ['left.h5']\n{REPLAY}", "recover=true;")
    require(layer, ("left.h5",), marked=False)


STATE = """
with h5py.File("x.h5") as file:
    found = file["d"][()]
    assert "_headrace_log" not in file.attrs
assert not found[1::2].any()
written = found[::2].reshape(-1, 100)
steps, ranks = written // 1000, written % 1000
shared, own = steps[:3], steps[3:].reshape(-1, 200)
# The flush of a step may be done before rank 0 says so, and others in the next one.
done = steps.min()
assert done in (flushed, flushed + 1) and steps.max() <= done + 1, (flushed, done, steps.max())
assert (ranks[:3][shared == done] == len(own) - 1).all(), "the last rank wins"
assert all((ranks[3:].reshape(-1, 200)[rank] == rank).all() for rank in range(len(own)))
print("right")
"""


def killed_amid_steps(layer: Log, hdf5: Hdf5, connector: str, random: Random) -> int:
    """The last step that was flushed for sure, of three ranks."""
    env = env_of(connector, PLUGINS, layer.folder / "report")
    program = [str(built(f"tests/log/mpi_kept_{hdf5.mpi}")), "steps", "x.h5"]
    command = [*hdf5.mpiexec, "-n", "3", *program]
    before = {load["pid"] for load in layer.loads}
    steps = layer.folder / "x.h5.steps"
    steps.unlink(missing_ok=True)
    wanted = random.randrange(1, 12)
    with subprocess.Popen(
        command, env=env, cwd=layer.folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as started:
        while started.poll() is None and (not steps.exists() or steps.stat().st_size < wanted):
            time.sleep(0.001)
        time.sleep(random.random() * 0.02)
        for pid in {load["pid"] for load in layer.loads} - before:
            with contextlib.suppress(ProcessLookupError):  # killed by its launcher
                os.kill(pid, signal.SIGKILL)
    return steps.stat().st_size


def recovers_from_kills(layer: Log, hdf5: Hdf5, connector: str, logs: int, random: Random) -> bool:
    """False where HDF5 was writing the marker, and a part of its metadata is missing."""
    shutil.rmtree(layer.folder / "x.h5.headrace", ignore_errors=True)
    flushed = killed_amid_steps(layer, hdf5, connector, random)
    if "unopenable" in layer.plain(
        "try: h5py.File('x.h5').close()\nexcept OSError: print('unopenable')"
    ):
        return False
    assert len(logs_of(layer, "x.h5")) == logs
    layer.python("names = ['x.h5']\n" + REPLAY, "recover=true;")
    assert layer.plain(f"flushed = {flushed}\n{STATE}") == "right"
    return True


def test_kills_lose_nothing_that_was_flushed(layer: Log, hdf5: Hdf5) -> None:
    random = Random(5)  # noqa: S311
    assert sum(recovers_from_kills(layer, hdf5, LATER, 3, random) for _ in range(12)) > 8


@everywhere
def test_a_file_that_is_open_twice(layer: Log, hdf5: Hdf5, ranks: int) -> None:
    """And has logs of a file that was there before: nobody removes these."""
    succeed(layer, hdf5, ranks, "mpi_logs", "forget")
    left = logs_of(layer, "left.h5")
    succeed(layer, hdf5, ranks, "mpi_kept", "twice", "left.h5")
    assert logs_of(layer, "left.h5") == left
    text = "f = h5py.File('left.h5'); print(set(f['d'][:].tolist()), *f.attrs)"
    assert layer.plain(text) == "{2}"


@pytest.mark.parametrize("ranks", [1, 3])
def test_what_was_read_before_it_was_flushed_is_not_recovered(
    layer: Log, hdf5: Hdf5, ranks: int
) -> None:
    start(layer, hdf5, ranks, "mpi_kept", "unflushed", "x.h5")
    assert len(logs_of(layer, "x.h5")) == ranks
    layer.python("names = ['x.h5']\n" + REPLAY, "recover=true;")
    text = "f = h5py.File('x.h5'); print(*f, *f.attrs, set(f['d'][:].tolist()))"
    assert layer.plain(text) == "d {2}"


def test_a_crash_amid_putting_in_order(layer: Log, hdf5: Hdf5) -> None:
    """What was written since the flush is there in the order of the writes, or not at all."""
    done = start(layer, hdf5, 1, "mpi_kept", "settling", "x.h5")
    assert done.status != 0
    assert "alive" not in done.text, done.text
    before = layer.plain("print(*h5py.File('x.h5')['d'][:2])")
    assert before == "2 3", "not amid it"
    layer.python("names = ['x.h5']\n" + REPLAY, "recover=true;")
    text = "f = h5py.File('x.h5'); print(*f.attrs, *f['d'][:2], f['d'][-1])"
    assert layer.plain(text) in {"1 0 1", "2 0 1", "2 3 1"}


@pytest.mark.parametrize("damage", ["gone", "another's", "cut off"])
def test_one_of_the_logs_is_wrong(layer: Log, hdf5: Hdf5, damage: str) -> None:
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
    said = layer.start(f"names = ['left.h5']\n{REPLAY}")
    assert said.status != 0
    assert str(second) in said.text
    succeed(layer, hdf5, 3, "mpi_kept", "part", "left.h5")
    assert (layer.folder / "left.h5").read_bytes() == before
    second.write_bytes(kept)
    succeed(layer, hdf5, 3, "mpi_kept", "open", "left.h5")
    require(layer, ("left.h5",), marked=False)
