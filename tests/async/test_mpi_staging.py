"""Raw data of files over MPI that is written behind: mpi_staging, a choice, with its own rule."""

from __future__ import annotations

import json

import pytest
from async_layer import PLUGINS, Async
from harness.prefix import Hdf5
from harness.run import Result, run
from harness.stack import NATIVE
from parallel.together import built, env_of

STAGED = "headrace_async seat=both;mpi_staging=true;under_vol=0;under_info={}"
DEFAULT = "headrace_async seat=both;under_vol=0;under_info={}"

# By each rank, in rows: six datasets, each three times, and a half of another rank's part; those
# named extended, whole_*, dense and again. Not what is compressed or converted, and no fill values.
STAGED_BYTES = 2 * (6 * (3 * 64 + 32) + 4 * 64 + 64 + 2 * 64 + 3 * 64) * 512 * 4

# What the ranks have written, as h5py without any plug-in must find it.
CHECK = """
RANKS = {ranks}
ROWS, COLUMNS, STEPS = 64, 512, 4

def values(id, rows):
    index = np.arange(rows * COLUMNS, dtype=np.int64).reshape(rows, COLUMNS)
    return (id * 1000003 + index).astype(np.int32)

def written(id, spread):
    row = np.arange(RANKS * ROWS)
    overwritten = (row // RANKS if spread else row % ROWS) < ROWS // 2
    return np.where(overwritten[:, None], values(id + 1, len(row)), values(id, len(row)))

for name in ("one.h5", "two.h5"):
    with h5py.File(name) as file:
        expected = {{"deflated": written(40, False), "shared_deflated": written(42, True)}}
        expected["converted"] = written(44, True)
        for mode in "01":
            expected["contiguous_" + mode] = written(10, False)
            expected["spread_" + mode] = written(20, True)
            expected["fill_" + mode] = written(30, True)
        expected["extended"] = np.concatenate(
            [values(50, STEPS * RANKS * ROWS), np.full((RANKS * ROWS, COLUMNS), -7)]
        )
        expected["dense"] = values(83, RANKS * ROWS)
        expected["again"] = values(71, RANKS * ROWS)
        for rank in range(RANKS):
            expected["whole_%d" % rank] = values(60 + rank, ROWS)
        assert set(file) == set(expected), set(file) ^ set(expected)
        for name, data in expected.items():
            assert np.array_equal(file[name][()], data), name
print("checked")
"""


def start(layer: Async, hdf5: Hdf5, connector: str, mode: str, ranks: int, **more: str) -> Result:
    log = {"HEADRACE_LOG_FILE": str(layer.folder / "log")}
    env = env_of(connector, PLUGINS, layer.folder / "report", **log, **more)
    program = built(f"tests/async/mpi_staging_{hdf5.mpi}")
    command = [*hdf5.mpiexec, "-n", str(ranks), str(program), mode]
    done = run(command, env=env, cwd=layer.folder, limit=120)
    assert done.status == 0, done.text
    told = [
        line for line in done.out.decode().replace("}{", "}\n{").splitlines() if line[:1] == "{"
    ]
    assert sorted(json.loads(line)["rank"] for line in told) == list(range(ranks))
    return done


def staged(layer: Async) -> list[int]:
    """Bytes, by each rank that staged anything of any file."""
    by_rank: dict[int, int] = {}
    for event in layer.report:
        if event["event"] == "statistics" and event["seat"] == "vfd":
            bytes_ = event["values"].get("written_bytes", 0)
            by_rank[event["pid"]] = by_rank.get(event["pid"], 0) + bytes_
    return list(by_rank.values())


def check(layer: Async, ranks: int) -> None:
    assert layer.plain(CHECK.format(ranks=ranks)) == "checked"


@pytest.mark.parametrize(
    ("hdf5", "ranks"),
    [("1.14.5-openmpi", 1), ("1.14.5-openmpi", 3), ("2.2.0-mpich", 2)],
    indirect=["hdf5"],
)
def test_what_ranks_write_is_in_the_file(layer: Async, hdf5: Hdf5, ranks: int) -> None:
    start(layer, hdf5, STAGED, "write", ranks)
    check(layer, ranks)
    assert staged(layer) == [STAGED_BYTES] * ranks
    for pid in {event["pid"] for event in layer.report}:
        mine = [event for event in layer.report if event["pid"] == pid]
        for seat, name in {"vol": "headrace_async", "vfd": "headrace_async_mpi"}.items():
            assert any(
                event["event"] == "load" and event["seat"] == seat and event["name"] == name
                for event in mine
            )


def test_without_selection_io(layer: Async, hdf5: Hdf5) -> None:
    """Collective writes are MPI datatypes then, and nothing of them may be taken for bytes."""
    start(layer, hdf5, STAGED, "write", 2, SELECTION_IO_OFF="1")
    check(layer, 2)
    assert all(bytes_ > 0 for bytes_ in staged(layer))


@pytest.mark.parametrize("connector", [NATIVE, DEFAULT], ids=["native", "default"])
def test_nothing_is_staged_unless_asked_for(layer: Async, hdf5: Hdf5, connector: str) -> None:
    start(layer, hdf5, connector, "write", 2)
    check(layer, 2)
    assert staged(layer) == []


def two_environments(layer: Async, hdf5: Hdf5, last: str, *arguments: str) -> None:
    """Two ranks; the last one has another connector string."""
    script = layer.folder / "mixed"
    script.write_text(
        'if [ "${OMPI_COMM_WORLD_RANK:-$PMI_RANK}" = 1 ]; then\n'
        f"  export HDF5_VOL_CONNECTOR='{last}'\nfi\nexec \"$@\"\n"
    )
    env = env_of(STAGED, PLUGINS, layer.folder / "report")
    program = built(f"tests/async/mpi_staging_{hdf5.mpi}")
    command = [*hdf5.mpiexec, "-n", "2", "bash", str(script), str(program), *arguments]
    done = run(command, env=env, cwd=layer.folder, limit=120)
    assert done.status == 0, done.text
    assert len(staged(layer)) == 1


def test_one_rank_cannot_stage(layer: Async, hdf5: Hdf5) -> None:
    two_environments(layer, hdf5, STAGED.replace("seat=both", "seat=both;budget=1KiB"), "write")
    check(layer, 2)


def test_one_rank_is_not_asked_to_stage(layer: Async, hdf5: Hdf5) -> None:
    """Ranks are told to be alike; when they are not, none waits for ever."""
    two_environments(layer, hdf5, DEFAULT, "measure", "1", "8", "1")
    text = """
    with h5py.File("measured.h5") as file:
        assert np.array_equal(file["x"][:: 1 << 20], np.arange(1, 17))
    print("checked")
    """
    assert layer.plain(text) == "checked"


@pytest.mark.parametrize("ranks", [1, 2])
@pytest.mark.parametrize("mode", ["fail", "lose"])
def test_a_rank_that_cannot_write_says_so_alone(
    layer: Async, hdf5: Hdf5, mode: str, ranks: int
) -> None:
    start(layer, hdf5, STAGED, mode, ranks)
    lost = f"is closed without {64 * 512 * 4} bytes that could not be written"
    log = layer.folder / "log"
    assert (lost in log.read_text() if log.exists() else False) == (mode == "lose")


def test_no_rank_waits_for_one_that_reads_early(layer: Async, hdf5: Hdf5) -> None:
    """It may find what was there before; after H5Fflush and a barrier it does not."""
    start(layer, hdf5, STAGED, "early", 2)
    text = """
    with h5py.File("early.h5") as file:
        last = (107 * 1000003 + np.arange(2 * 64 * 512)).reshape(128, 512)
        assert all(np.array_equal(file[name][()], last) for name in "xy")
    print("checked")
    """
    assert layer.plain(text) == "checked"
    assert staged(layer) == [2 * 8 * 64 * 512 * 4] * 2


def test_atomic_files_are_not_staged(layer: Async, hdf5: Hdf5) -> None:
    start(layer, hdf5, STAGED, "atomic", 2)
    assert staged(layer) == [64 * 512 * 4] * 2, "one write before it was atomic"
