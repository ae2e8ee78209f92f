"""Files over MPI of which each rank has a log: mpi_logs, a choice, with its own rule."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from harness.corpus import compile_preload
from harness.prefix import Hdf5
from harness.run import Result, run
from harness.stack import NATIVE
from log_layer import PLUGINS, Log
from parallel.together import built, env_of

RANK = "headrace_log mpi_logs=rank;under_vol=0;under_info={}"
DEFAULT = "headrace_log under_vol=0;under_info={}"
KINDS = {"contiguous", "chunked", "deflated", "doubles"}

# What the ranks' models say, as h5py without any plug-in must find it.
CHECK = """
checked = set()
for name in sys.argv[1:]:
    with h5py.File(name) as file:
        for dataset in "contiguous", "chunked", "deflated", "doubles":
            expected = np.fromfile(f"{name}.{dataset}.expected", np.int32)
            found = file[dataset][()]
            assert np.array_equal(found, expected.reshape(found.shape)), (name, dataset)
            checked.add(dataset)
        assert "_headrace_log" not in file.attrs
print("checked", len(checked))
"""

MPI = [("1.14.5-openmpi", 2), ("1.14.5-openmpi", 4), ("2.2.0-mpich", 2), ("2.2.0-mpich", 4)]
everywhere = pytest.mark.parametrize(("hdf5", "ranks"), MPI, indirect=["hdf5"])


def start(
    layer: Log,
    hdf5: Hdf5,
    ranks: int,
    *arguments: str,
    connector: str = RANK,
    name: str = "mpi_logs",
    **more: str,
) -> Result:
    log = {"HEADRACE_LOG_FILE": str(layer.folder / "log")}
    env = env_of(connector, PLUGINS, layer.folder / "report", **log, **more)
    program = built(f"tests/log/{name}_{hdf5.mpi}")
    command = [*hdf5.mpiexec, "-n", str(ranks), str(program), *arguments]
    return run(command, env=env, cwd=layer.folder, limit=120)


def succeed(
    layer: Log, hdf5: Hdf5, ranks: int, *arguments: str, connector: str = RANK, **more: str
) -> None:
    done = start(layer, hdf5, ranks, *arguments, connector=connector, **more)
    assert done.status == 0, done.text
    told = [
        line for line in done.out.decode().replace("}{", "}\n{").splitlines() if line[:1] == "{"
    ]
    assert sorted(json.loads(line)["rank"] for line in told) == list(range(ranks))
    loads = {load["pid"] for load in layer.loads if load["name"] == "headrace_log"}
    assert len(loads) == ranks


def check(layer: Log, *names: str) -> None:
    text = f"sys.argv = ['', *{names!r}]\n" + CHECK
    assert layer.plain(text) == f"checked {len(KINDS)}"
    assert not list(layer.folder.glob("*.headrace")), "no log is left"


def logged_by(layer: Log) -> list[int]:
    """Writes, by each rank."""
    told = [line["values"] for line in layer.report if line["event"] == "statistics"]
    return [values["writes_logged"] for values in told if "writes_logged" in values]


@everywhere
@pytest.mark.parametrize("seed", range(3))
def test_random_programs(layer: Log, hdf5: Hdf5, ranks: int, seed: int) -> None:
    succeed(layer, hdf5, ranks, "write", str(seed))
    check(layer, "random-0.h5", "random-1.h5", "random-2.h5")
    assert all(writes > 30 for writes in logged_by(layer)), logged_by(layer)
    assert len(logged_by(layer)) == ranks
    assert layer.counted("calls_left_to_hdf5") == 0


@everywhere
@pytest.mark.parametrize("seed", range(3))
def test_calls_that_look_at_data(layer: Log, hdf5: Hdf5, ranks: int, seed: int) -> None:
    succeed(layer, hdf5, ranks, "calls", str(seed))
    check(layer, "calls.h5")
    assert all(writes > 6 for writes in logged_by(layer))


@pytest.mark.parametrize("mode", ["uneven", "calls"])
def test_metadata_is_read_collectively(layer: Log, hdf5: Hdf5, mode: str) -> None:
    """Writes ask HDF5 nothing that ranks would wait for each other in."""
    succeed(layer, hdf5, 3, mode, "3", COLLECTIVE_METADATA="1")
    check(layer, f"{mode}.h5")
    assert all(writes > 6 for writes in logged_by(layer)), logged_by(layer)
    assert len(logged_by(layer)) == 3


@everywhere
def test_atomic_files_are_not_logged(layer: Log, hdf5: Hdf5, ranks: int) -> None:
    succeed(layer, hdf5, ranks, "atomic")
    check(layer, "atomic.h5")
    assert all(writes <= 1 for writes in logged_by(layer)), "one write before it was atomic"


@everywhere
@pytest.mark.parametrize("mode", ["fail", "lose"])
def test_an_error_of_one_rank_is_told_to_all(layer: Log, hdf5: Hdf5, ranks: int, mode: str) -> None:
    succeed(layer, hdf5, ranks, mode)
    assert not list(layer.folder.glob("*.headrace")), "no log is left"


LAST = {
    "converted": "d = f['d'][...]; assert (d[::100] == 3).all() and (d == 2).sum() == 990",
    "anonymous": "assert (f['d'][:20] == 2).all() and not f['d'][20:].any()",
    "cut": "d = f['d'][...]; assert (d[:900] == 1).all() and (d[900:920] == 2).all() "
    "and (d[920:950] == 1).all() and not d[950:].any()",
    "twice": "assert (f['d'][:20] == 2).all() and not f['d'][20:].any()",
    "linked": "assert (f['d'][:20] == 1).all() and not f['d'][20:].any()",
    "grown": "assert (f['d'][:20] == 7).all() and f['d'].shape == (200,)",
    "forked": "d = f['d'][...]; assert all((d[k:][:5] == 1 + k % 40 // 10).all() "
    "for k in (0, 10, 40, 50)) and (d > 0).sum() == 20",
    "full": "assert f['compact'][()] == 5",
    "others": "assert (f['d'][:20] == 8).all()",
    "long": "d = f['d'][:]; n = np.flatnonzero(d); assert (d[n] == n).all() and len(n) > 250000",
}


@pytest.mark.parametrize("hdf5", ["1.14.5-openmpi", "2.2.0-mpich"], indirect=True)
@pytest.mark.parametrize("case", LAST)
def test_seldom_things(layer: Log, hdf5: Hdf5, case: str) -> None:
    ranks = 3 if case == "others" else 2
    done = start(layer, hdf5, ranks, case, name="mpi_cases")
    assert done.status == 0, done.text
    loads = {load["pid"] for load in layer.loads if load["name"] == "headrace_log"}
    assert len(loads) == ranks
    layer.plain(f"f = h5py.File('x.h5'); {LAST[case]}")
    assert not list(layer.folder.glob("*.headrace")), "no log is left"


@pytest.mark.parametrize("hdf5", ["1.14.5-openmpi", "2.2.0-mpich"], indirect=True)
def test_ranks_write_between_each_other(layer: Log, hdf5: Hdf5) -> None:
    """Two of four have something to write; MPI-IO may read and write back what is in between."""
    late = compile_preload(layer.folder, Path(__file__).with_name("late_writes.c"))
    done = start(layer, hdf5, 4, "woven", name="mpi_cases", LD_PRELOAD=str(late))
    assert done.status == 0, done.text
    layer.plain("""
        for name in "x.h5", "y.h5":
            chunks = h5py.File(name)["d"][()].reshape(16, -1)
            assert (chunks[[0, 1, 10]] == 2).all(), (name, chunks)
            assert (chunks > 0).sum() == 3 * 4096, name
    """)
    assert logged_by(layer) == [10], "by the first rank alone"


def told(layer: Log, rank: int) -> dict[str, str]:
    """What a rank's transfer lists said, by what it wrote."""
    lines = (layer.folder / f"told.{rank}").read_text().splitlines()
    return dict(line.split(": ") for line in lines)


@pytest.mark.parametrize(
    ("hdf5", "ranks"), [("1.14.5-openmpi", 3), ("2.2.0-mpich", 2)], indirect=["hdf5"]
)
def test_transfer_lists_say_what_hdf5_says(layer: Log, hdf5: Hdf5, ranks: int) -> None:
    """But where HDF5 gives up what it writes together because of what another rank converts."""
    done = start(layer, hdf5, ranks, connector=NATIVE, name="mpi_told")
    assert done.status == 0, done.text
    natively = [told(layer, rank) for rank in range(ranks)]
    done = start(layer, hdf5, ranks, name="mpi_told")
    assert done.status == 0, done.text
    for rank, expected in enumerate(natively):
        found = told(layer, rank)
        assert len(expected) == 1104
        assert found.keys() == expected.keys()
        differ = {name for name in found if found[name] != expected[name]}
        small = re.compile(
            r".*( (narrower|member) last_only together mode [02].* small"
            r"| (swapped|wider) last_only together mode [02] small)"
        )
        known = {name for name in expected if rank < ranks - 1 and small.fullmatch(name)}
        assert differ == known
        assert all("local 0 global 102" in expected[name] for name in known)
    assert all(writes > 100 for writes in logged_by(layer))


@everywhere
def test_a_file_that_is_left_open(layer: Log, hdf5: Hdf5, ranks: int) -> None:
    succeed(layer, hdf5, ranks, "forget")
    check(layer, "left.h5")


def test_a_crash_leaves_what_was_flushed(layer: Log, hdf5: Hdf5) -> None:
    start(layer, hdf5, 2, "crash")
    left = list((layer.folder / "left.h5.headrace").iterdir())
    assert len(left) == 2, "what was logged since the flush is nobody's"
    for log in left:
        log.rename(log.with_name("0" * 32 + log.name[32:]))
    (layer.folder / "left.h5").rename(layer.folder / "flushed.h5")
    for kind in KINDS:
        Path(layer.folder / f"left.h5.{kind}.expected").rename(
            layer.folder / f"flushed.h5.{kind}.expected"
        )
    succeed_again = layer.folder / "report"
    succeed_again.unlink()
    succeed(layer, hdf5, 2, "forget")  # whoever writes a file of that name next removes them
    check(layer, "left.h5", "flushed.h5")


def test_nothing_is_logged_unless_asked_for(layer: Log, hdf5: Hdf5) -> None:
    succeed(layer, hdf5, 2, "atomic", connector=DEFAULT)
    assert all(writes == 0 for writes in logged_by(layer))


def test_ranks_that_are_not_told_alike(layer: Log, hdf5: Hdf5) -> None:
    """None waits for ever, and nothing is logged."""
    script = layer.folder / "mixed"
    script.write_text(
        'if [ "${OMPI_COMM_WORLD_RANK:-$PMI_RANK}" = 1 ]; then\n'
        f"  export HDF5_VOL_CONNECTOR='{DEFAULT}'\nfi\nexec \"$@\"\n"
    )
    env = env_of(RANK, PLUGINS, layer.folder / "report")
    program = built(f"tests/log/mpi_logs_{hdf5.mpi}")
    command = [*hdf5.mpiexec, "-n", "2", "bash", str(script), str(program), "atomic"]
    done = run(command, env=env, cwd=layer.folder, limit=120)
    assert done.status == 0, done.text
    assert len({load["pid"] for load in layer.loads}) == 2
    assert not any(logged_by(layer))
