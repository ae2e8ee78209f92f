"""Files over MPI whose ranks have their logs in one file for each node: mpi_logs=node."""

from __future__ import annotations

import shutil
from functools import partial
from random import Random

import pytest
from harness import ranks as of_ranks
from harness.layer import Layer
from harness.prefix import Hdf5
from layers.log.later.commands import headrace
from layers.log.ranks import kept_by_ranks
from layers.log.ranks.kept_by_ranks import (
    FILES,
    NONE,
    copy_expected,
    copy_with_logs,
    logs_of,
    put_in_order,
    require,
    require_in_order,
)
from layers.log.ranks.test_mpi import RANK, logged_by
from layers.log.ranks.test_mpi_later import recovers_from_kills

pytestmark = pytest.mark.sanitized

CLOSE = "headrace_log mpi_logs=node;under_vol=0;under_info={}"
LATER = "headrace_log canonicalise=later;mpi_logs=node;under_vol=0;under_info={}"
MPI = [("1.14.5-openmpi", 4), ("2.2.0-mpich", 2)]
everywhere = pytest.mark.parametrize(("hdf5", "ranks"), MPI, indirect=["hdf5"])
# MPICH takes every second rank for one on another node; Open MPI does not.
with_nodes = pytest.mark.parametrize(
    ("hdf5", "ranks", "nodes"),
    [("1.14.5-openmpi", 4, 1), ("2.2.0-mpich", 3, 2)],
    indirect=["hdf5"],
)
one = pytest.mark.parametrize("hdf5", ["1.14.5-openmpi"], indirect=True)
two_nodes = pytest.mark.parametrize("hdf5", ["2.2.0-mpich"], indirect=True)

start = partial(kept_by_ranks.start, connector=LATER)
succeed = partial(kept_by_ranks.succeed, connector=LATER)
succeed_closing = partial(of_ranks.succeed, connector=CLOSE)


@pytest.mark.share(1)
@everywhere
def test_random_programs(layer: Layer, hdf5: Hdf5, ranks: int) -> None:
    succeed_closing(layer, hdf5, ranks, "mpi_logs", "write", "1")
    require_in_order(layer, *FILES)
    assert len(logged_by(layer)) == ranks
    assert all(writes > 30 for writes in logged_by(layer)), logged_by(layer)


@everywhere
def test_calls_that_look_at_data(layer: Layer, hdf5: Hdf5, ranks: int) -> None:
    succeed_closing(layer, hdf5, ranks, "mpi_logs", "calls", "1")
    require_in_order(layer, "calls.h5")
    assert all(writes > 6 for writes in logged_by(layer))


@everywhere
@pytest.mark.parametrize("mode", ["fail", "lose"])
def test_an_error_of_one_rank_is_told_to_all(
    layer: Layer, hdf5: Hdf5, ranks: int, mode: str
) -> None:
    succeed_closing(layer, hdf5, ranks, "mpi_logs", mode)
    assert not list(layer.folder.glob("*.headrace")), "no log is left"


@one
def test_what_a_crash_leaves_is_removed(layer: Layer, hdf5: Hdf5) -> None:
    of_ranks.start(layer, hdf5, 3, "mpi_logs", "crash", connector=CLOSE)
    (left,) = (layer.folder / "left.h5.headrace").iterdir()
    assert left.name.endswith(".n0.tmp"), "one file for all"
    left.rename(left.with_name("0" * 32 + left.name[32:]))
    succeed_closing(layer, hdf5, 2, "mpi_logs", "forget")
    require_in_order(layer, "left.h5")


@one
def test_ranks_that_are_not_told_alike(layer: Layer, hdf5: Hdf5) -> None:
    """None waits for ever, and nothing is logged."""
    succeed_closing(layer, hdf5, 2, "mpi_logs", "atomic", connector=(CLOSE, RANK))
    assert not any(logged_by(layer))
    succeed_closing(layer, hdf5, 2, "mpi_logs", "atomic")
    assert any(logged_by(layer)), "what is logged where they are"


@with_nodes
def test_logs_that_outlive_the_program(layer: Layer, hdf5: Hdf5, ranks: int, nodes: int) -> None:
    """Read by one process and by ranks, put in order by one process and by other ranks."""
    succeed(layer, hdf5, ranks, "mpi_logs", "write", "1", "1", MPIR_CVAR_NUM_CLIQUES=str(nodes))
    name, copy = "random-0.h5", "copy.h5"
    names = [log.name[32:] for log in logs_of(layer, name)]
    assert names == [f".n{node}.log" for node in range(nodes)]
    copy_with_logs(layer, name, copy)
    require(layer, (name,), marked=True)
    succeed(layer, hdf5, 3, "mpi_kept", "read", name, connector=NONE)
    succeed(layer, hdf5, 2, "mpi_kept", "open", name, connector=NONE)
    layer.python(partial(put_in_order, copy))
    require_in_order(layer, name, copy)


@everywhere
def test_calls_that_look_at_kept_data(layer: Layer, hdf5: Hdf5, ranks: int) -> None:
    succeed(layer, hdf5, ranks, "mpi_logs", "calls", "1")
    layer.python(partial(put_in_order, "calls.h5"))
    require(layer, ("calls.h5",), marked=False)


@everywhere
def test_a_file_that_is_open_twice(layer: Layer, hdf5: Hdf5, ranks: int) -> None:
    """And had logs of a file that was there before: these went with it."""
    succeed(layer, hdf5, ranks, "mpi_logs", "forget")
    assert logs_of(layer, "left.h5")
    succeed(layer, hdf5, ranks, "mpi_kept", "twice", "left.h5")
    assert not logs_of(layer, "left.h5")
    text = "f = h5py.File('left.h5'); print(set(f['d'][:].tolist()), *f.attrs)"
    assert layer.plain(text) == "{2}"


@everywhere
def test_what_was_read_before_it_was_flushed_is_not_recovered(
    layer: Layer, hdf5: Hdf5, ranks: int
) -> None:
    start(layer, hdf5, ranks, "mpi_kept", "unflushed", "x.h5")
    assert len(logs_of(layer, "x.h5")) == 1
    layer.python(partial(put_in_order, "x.h5"), "recover=true;")
    text = "f = h5py.File('x.h5'); print(*f, *f.attrs, set(f['d'][:].tolist()))"
    assert layer.plain(text) == "d {2}"


@one
def test_kills_lose_nothing_that_was_flushed(layer: Layer, hdf5: Hdf5) -> None:
    random = Random(7)  # noqa: S311
    assert sum(recovers_from_kills(layer, hdf5, LATER, 1, random) for _ in range(3)) > 1


@pytest.mark.share(3)
@two_nodes
@pytest.mark.parametrize("damage", ["first gone", "gone", "another's", "header", "cut off"])
def test_one_of_the_files_is_wrong(layer: Layer, hdf5: Hdf5, damage: str) -> None:
    """It is named; nothing is put in order."""
    succeed(layer, hdf5, 3, "mpi_logs", "forget", MPIR_CVAR_NUM_CLIQUES="2")
    first, second = logs_of(layer, "left.h5")
    wrong, other = (first, second) if damage == "first gone" else (second, first)
    kept = wrong.read_bytes()
    if damage.endswith("gone"):
        wrong.unlink()
    elif damage == "another's":
        shutil.copy(other, wrong)
    elif damage == "header":
        wrong.write_bytes(kept[:48] + b"\xff" + kept[49:])
    else:
        wrong.write_bytes(kept[:-1])
    before = (layer.folder / "left.h5").read_bytes()
    said = layer.start(partial(put_in_order, "left.h5"))
    assert said.status != 0
    assert str(wrong) in said.text
    assert (layer.folder / "left.h5").read_bytes() == before
    wrong.write_bytes(kept)
    layer.python(partial(put_in_order, "left.h5"))
    require(layer, ("left.h5",), marked=False)


@one
def test_commands(layer: Layer, hdf5: Hdf5) -> None:
    ranks = 3
    start(layer, hdf5, ranks, "mpi_logs", "crash")
    (log,) = logs_of(layer, "left.h5")
    listed = headrace(layer.folder, "log", "ls", "left.h5")
    assert all(f"{log.name}, rank {rank}" in listed.out.decode() for rank in range(ranks))
    assert "deflated" in listed.out.decode()
    assert headrace(layer.folder, "replay", "left.h5").status != 0, "it was not closed"
    done = headrace(layer.folder, "recover", "left.h5")
    assert done.status == 0, done.text
    require(layer, ("left.h5",), marked=False)
    succeed(layer, hdf5, ranks, "mpi_logs", "forget")
    (log,) = logs_of(layer, "left.h5")
    kept = log.read_bytes()
    done = headrace(layer.folder, "replay", "--output", "new.h5", "left.h5")
    assert done.status == 0, done.text
    assert log.read_bytes() == kept
    copy_expected(layer, "left.h5", "new.h5")
    require(layer, ("new.h5",), marked=False)
