"""Files over MPI whose ranks have their logs in one file for each node: mpi_logs=node."""

from __future__ import annotations

import shutil
from random import Random

import pytest
from harness.prefix import Hdf5
from harness.run import Result, run
from log import kept_by_ranks, test_mpi
from log.commands import headrace
from log.kept_by_ranks import FILES, NONE, REPLAY, logs_of, require
from log.test_mpi import KINDS, check, logged_by
from log.test_mpi_later import recovers_from_kills
from log_layer import PLUGINS, Log
from parallel.together import built, env_of

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


def start(layer: Log, hdf5: Hdf5, ranks: int, nodes: int, program: str, *arguments: str) -> Result:
    more = {"KEEPS_LOGS": "1", "MPIR_CVAR_NUM_CLIQUES": str(nodes)}
    env = env_of(LATER, PLUGINS, layer.folder / "report", **more)
    command = [*hdf5.mpiexec, "-n", str(ranks), str(built(f"tests/log/{program}_{hdf5.mpi}"))]
    done = run([*command, *arguments], env=env, cwd=layer.folder, limit=120)
    loads = {load["pid"] for load in layer.loads if load["name"] == "headrace_log"}
    assert len(loads) >= ranks, done.text
    return done


def succeed(layer: Log, hdf5: Hdf5, ranks: int, nodes: int, program: str, *arguments: str) -> None:
    done = start(layer, hdf5, ranks, nodes, program, *arguments)
    assert done.status == 0, done.text
    assert done.out.decode().count('"rank"') == ranks, done.text


@everywhere
def test_random_programs(layer: Log, hdf5: Hdf5, ranks: int) -> None:
    test_mpi.succeed(layer, hdf5, ranks, "write", "1", connector=CLOSE)
    check(layer, *FILES)
    assert len(logged_by(layer)) == ranks
    assert all(writes > 30 for writes in logged_by(layer)), logged_by(layer)


@everywhere
def test_calls_that_look_at_data(layer: Log, hdf5: Hdf5, ranks: int) -> None:
    test_mpi.succeed(layer, hdf5, ranks, "calls", "1", connector=CLOSE)
    check(layer, "calls.h5")
    assert all(writes > 6 for writes in logged_by(layer))


@everywhere
@pytest.mark.parametrize("mode", ["fail", "lose"])
def test_an_error_of_one_rank_is_told_to_all(layer: Log, hdf5: Hdf5, ranks: int, mode: str) -> None:
    test_mpi.succeed(layer, hdf5, ranks, mode, connector=CLOSE)
    assert not list(layer.folder.glob("*.headrace")), "no log is left"


@one
def test_what_a_crash_leaves_is_removed(layer: Log, hdf5: Hdf5) -> None:
    test_mpi.start(layer, hdf5, 3, "crash", connector=CLOSE)
    (left,) = (layer.folder / "left.h5.headrace").iterdir()
    assert left.name.endswith(".n0.tmp"), "one file for all"
    left.rename(left.with_name("0" * 32 + left.name[32:]))
    (layer.folder / "report").unlink()
    test_mpi.succeed(layer, hdf5, 2, "forget", connector=CLOSE)
    check(layer, "left.h5")


@one
def test_ranks_that_are_not_told_alike(layer: Log, hdf5: Hdf5) -> None:
    """None waits for ever, and nothing is logged."""
    script = layer.folder / "mixed"
    script.write_text(
        'if [ "${OMPI_COMM_WORLD_RANK:-$PMI_RANK}" = 1 ]; then\n'
        f"  export HDF5_VOL_CONNECTOR='{test_mpi.RANK}'\nfi\nexec \"$@\"\n"
    )
    env = env_of(CLOSE, PLUGINS, layer.folder / "report")
    program = built(f"tests/log/mpi_logs_{hdf5.mpi}")
    command = [*hdf5.mpiexec, "-n", "2", "bash", str(script), str(program), "atomic"]
    done = run(command, env=env, cwd=layer.folder, limit=120)
    assert done.status == 0, done.text
    assert len({load["pid"] for load in layer.loads}) == 2
    assert not any(logged_by(layer))
    (layer.folder / "report").unlink()
    test_mpi.succeed(layer, hdf5, 2, "atomic", connector=CLOSE)
    assert any(logged_by(layer)), "what is logged where they are"


@with_nodes
def test_logs_that_outlive_the_program(layer: Log, hdf5: Hdf5, ranks: int, nodes: int) -> None:
    """Read by one process and by ranks, put in order by one process and by other ranks."""
    succeed(layer, hdf5, ranks, nodes, "mpi_logs", "write", "1", "1")
    name, copy = "random-0.h5", "copy.h5"
    names = [log.name[32:] for log in logs_of(layer, name)]
    assert names == [f".n{node}.log" for node in range(nodes)]
    shutil.copy(layer.folder / name, layer.folder / copy)
    shutil.copytree(layer.folder / f"{name}.headrace", layer.folder / f"{copy}.headrace")
    for kind in KINDS:
        shutil.copy(
            layer.folder / f"{name}.{kind}.expected", layer.folder / f"{copy}.{kind}.expected"
        )
    require(layer, (name,), marked=True)
    kept_by_ranks.succeed(layer, hdf5, 3, "mpi_kept", "read", name, connector=NONE)
    kept_by_ranks.succeed(layer, hdf5, 2, "mpi_kept", "open", name, connector=NONE)
    layer.python(f"names = ['{copy}']\n{REPLAY}")
    require(layer, (name, copy), marked=False)
    assert not list(layer.folder.glob("*.headrace")), "no log is left"


@everywhere
def test_calls_that_look_at_kept_data(layer: Log, hdf5: Hdf5, ranks: int) -> None:
    succeed(layer, hdf5, ranks, 1, "mpi_logs", "calls", "1")
    layer.python(f"names = ['calls.h5']\n{REPLAY}")
    require(layer, ("calls.h5",), marked=False)


@everywhere
def test_a_file_that_is_open_twice(layer: Log, hdf5: Hdf5, ranks: int) -> None:
    """And has logs of a file that was there before: nobody removes these."""
    succeed(layer, hdf5, ranks, 1, "mpi_logs", "forget")
    left = logs_of(layer, "left.h5")
    assert len(left) == 1
    succeed(layer, hdf5, ranks, 1, "mpi_kept", "twice", "left.h5")
    assert logs_of(layer, "left.h5") == left
    text = "f = h5py.File('left.h5'); print(set(f['d'][:].tolist()), *f.attrs)"
    assert layer.plain(text) == "{2}"


@everywhere
def test_what_was_read_before_it_was_flushed_is_not_recovered(
    layer: Log, hdf5: Hdf5, ranks: int
) -> None:
    start(layer, hdf5, ranks, 1, "mpi_kept", "unflushed", "x.h5")
    assert len(logs_of(layer, "x.h5")) == 1
    layer.python("names = ['x.h5']\n" + REPLAY, "recover=true;")
    text = "f = h5py.File('x.h5'); print(*f, *f.attrs, set(f['d'][:].tolist()))"
    assert layer.plain(text) == "d {2}"


@one
def test_kills_lose_nothing_that_was_flushed(layer: Log, hdf5: Hdf5) -> None:
    random = Random(7)  # noqa: S311
    assert sum(recovers_from_kills(layer, hdf5, LATER, 1, random) for _ in range(3)) > 1


@two_nodes
@pytest.mark.parametrize("damage", ["first gone", "gone", "another's", "header", "cut off"])
def test_one_of_the_files_is_wrong(layer: Log, hdf5: Hdf5, damage: str) -> None:
    """It is named; nothing is put in order."""
    succeed(layer, hdf5, 3, 2, "mpi_logs", "forget")
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
    said = layer.start(f"names = ['left.h5']\n{REPLAY}")
    assert said.status != 0
    assert str(wrong) in said.text
    assert (layer.folder / "left.h5").read_bytes() == before
    wrong.write_bytes(kept)
    layer.python(f"names = ['left.h5']\n{REPLAY}")
    require(layer, ("left.h5",), marked=False)


@one
def test_commands(layer: Log, hdf5: Hdf5) -> None:
    ranks = 3
    start(layer, hdf5, ranks, 1, "mpi_logs", "crash")
    (log,) = logs_of(layer, "left.h5")
    listed = headrace(layer.folder, "log", "ls", "left.h5")
    assert all(f"{log.name}, rank {rank}" in listed.out.decode() for rank in range(ranks))
    assert "deflated" in listed.out.decode()
    assert headrace(layer.folder, "replay", "left.h5").status != 0, "it was not closed"
    done = headrace(layer.folder, "recover", "left.h5")
    assert done.status == 0, done.text
    require(layer, ("left.h5",), marked=False)
    succeed(layer, hdf5, ranks, 1, "mpi_logs", "forget")
    (log,) = logs_of(layer, "left.h5")
    kept = log.read_bytes()
    done = headrace(layer.folder, "replay", "--output", "new.h5", "left.h5")
    assert done.status == 0, done.text
    assert log.read_bytes() == kept
    for kind in KINDS:
        shutil.copy(
            layer.folder / f"left.h5.{kind}.expected", layer.folder / f"new.h5.{kind}.expected"
        )
    require(layer, ("new.h5",), marked=False)
