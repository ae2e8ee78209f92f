"""Raw data of files over MPI that is written behind: mpi_staging, a choice, with its own rule."""

from __future__ import annotations

from functools import partial

import h5py
import numpy as np
import numpy.typing as npt
import pytest
from harness import ranks as of_ranks
from harness.layer import Layer
from harness.prefix import MATRIX, Hdf5
from harness.stack import NATIVE

STAGED = "headrace_async seat=both;mpi_staging=true;under_vol=0;under_info={}"
DEFAULT = "headrace_async seat=both;under_vol=0;under_info={}"
ROWS, COLUMNS, STEPS = 64, 512, 4

# By each rank, in rows: six datasets, each three times, and a half of another rank's part; those
# named extended, whole_*, dense and again. Not what is compressed or converted, and no fill values.
STAGED_BYTES = 2 * (6 * (3 * 64 + 32) + 4 * 64 + 64 + 2 * 64 + 3 * 64) * 512 * 4


def values(number: int, rows: int) -> npt.NDArray[np.int32]:
    index = np.arange(rows * COLUMNS, dtype=np.int64).reshape(rows, COLUMNS)
    return (number * 1000003 + index).astype(np.int32)


def written(number: int, ranks: int, spread: bool) -> npt.NDArray[np.int32]:
    row = np.arange(ranks * ROWS)
    overwritten = (row // ranks if spread else row % ROWS) < ROWS // 2
    return np.where(overwritten[:, None], values(number + 1, len(row)), values(number, len(row)))


def expected_datasets(ranks: int) -> dict[str, npt.NDArray[np.int32]]:
    expected = {
        "deflated": written(40, ranks, spread=False),
        "shared_deflated": written(42, ranks, spread=True),
        "converted": written(44, ranks, spread=True),
        "dense": values(83, ranks * ROWS),
        "again": values(71, ranks * ROWS),
    }
    for mode in "01":
        expected["contiguous_" + mode] = written(10, ranks, spread=False)
        expected["spread_" + mode] = written(20, ranks, spread=True)
        expected["fill_" + mode] = written(30, ranks, spread=True)
    never = np.full((ranks * ROWS, COLUMNS), -7)
    expected["extended"] = np.concatenate([values(50, STEPS * ranks * ROWS), never])
    for rank in range(ranks):
        expected[f"whole_{rank}"] = values(60 + rank, ROWS)
    return expected


def check_datasets(ranks: int) -> None:
    """What the ranks have written, as h5py without any plug-in must find it."""
    expected = expected_datasets(ranks)
    for name in ("one.h5", "two.h5"):
        with h5py.File(name) as file:
            assert set(file) == set(expected), set(file) ^ set(expected)
            for dataset, data in expected.items():
                assert np.array_equal(file[dataset][()], data), dataset
    print("checked")


def check_measured() -> None:
    with h5py.File("measured.h5") as file:
        assert np.array_equal(file["x"][:: 1 << 20], np.arange(1, 17))
    print("checked")


def check_early() -> None:
    with h5py.File("early.h5") as file:
        last = (107 * 1000003 + np.arange(2 * 64 * 512)).reshape(128, 512)
        assert all(np.array_equal(file[name][()], last) for name in "xy")
    print("checked")


def succeed(layer: Layer, hdf5: Hdf5, connector: str, mode: str, ranks: int, **more: str) -> None:
    of_ranks.succeed(layer, hdf5, ranks, "mpi_staging", mode, connector=connector, **more)


def staged(layer: Layer) -> list[int]:
    """Bytes, by each rank that staged anything of any file."""
    by_rank: dict[int, int] = {}
    for event in layer.report:
        if event["event"] == "statistics" and event["seat"] == "vfd":
            bytes_ = event["values"].get("written_bytes", 0)
            by_rank[event["pid"]] = by_rank.get(event["pid"], 0) + bytes_
    return list(by_rank.values())


def check(layer: Layer, ranks: int) -> None:
    assert layer.plain(partial(check_datasets, ranks)) == "checked"


@pytest.mark.share(2)
@pytest.mark.parametrize(
    ("hdf5", "ranks"),
    [("1.14.5-openmpi", 1), ("1.14.5-openmpi", 3), ("2.2.0-mpich", 2)],
    indirect=["hdf5"],
)
def test_what_ranks_write_is_in_the_file(layer: Layer, hdf5: Hdf5, ranks: int) -> None:
    succeed(layer, hdf5, STAGED, "write", ranks)
    check(layer, ranks)
    assert staged(layer) == [STAGED_BYTES] * ranks
    for pid in {event["pid"] for event in layer.report}:
        mine = [event for event in layer.report if event["pid"] == pid]
        for seat, name in {"vol": "headrace_async", "vfd": "headrace_async_mpi"}.items():
            assert any(
                event["event"] == "load" and event["seat"] == seat and event["name"] == name
                for event in mine
            )


def test_without_selection_io(layer: Layer, hdf5: Hdf5) -> None:
    """Collective writes are MPI datatypes then, and nothing of them may be taken for bytes."""
    succeed(layer, hdf5, STAGED, "write", 2, SELECTION_IO_OFF="1")
    check(layer, 2)
    assert all(bytes_ > 0 for bytes_ in staged(layer))


@pytest.mark.parametrize("connector", [NATIVE, DEFAULT], ids=["native", "default"])
def test_nothing_is_staged_unless_asked_for(layer: Layer, hdf5: Hdf5, connector: str) -> None:
    succeed(layer, hdf5, connector, "write", 2)
    check(layer, 2)
    assert staged(layer) == []


def two_environments(layer: Layer, hdf5: Hdf5, last: str, *arguments: str) -> None:
    """Two ranks; the last one has another connector string."""
    of_ranks.succeed(layer, hdf5, 2, "mpi_staging", *arguments, connector=(STAGED, last))
    assert len(staged(layer)) == 1


def test_one_rank_cannot_stage(layer: Layer, hdf5: Hdf5) -> None:
    two_environments(layer, hdf5, STAGED.replace("seat=both", "seat=both;budget=1KiB"), "write")
    check(layer, 2)


def test_one_rank_is_not_asked_to_stage(layer: Layer, hdf5: Hdf5) -> None:
    """Ranks are told to be alike; when they are not, none waits for ever."""
    two_environments(layer, hdf5, DEFAULT, "measure", "1", "8", "1")
    assert layer.plain(check_measured) == "checked"


@pytest.mark.parametrize("ranks", [1, 2])
@pytest.mark.parametrize("mode", ["fail", "lose"])
def test_a_rank_that_cannot_write_says_so_alone(
    layer: Layer, hdf5: Hdf5, mode: str, ranks: int
) -> None:
    succeed(layer, hdf5, STAGED, mode, ranks)
    lost = f"is closed without {64 * 512 * 4} bytes that could not be written"
    assert (lost in layer.log) == (mode == "lose")


@pytest.mark.parametrize("hdf5", MATRIX, indirect=True)
def test_all_ranks_are_told_before_a_dataset_grows(layer: Layer, hdf5: Hdf5) -> None:
    succeed(layer, hdf5, STAGED, "grow", 2)


def test_no_rank_waits_for_one_that_reads_early(layer: Layer, hdf5: Hdf5) -> None:
    """It may find what was there before; after H5Fflush and a barrier it does not."""
    succeed(layer, hdf5, STAGED, "early", 2)
    assert layer.plain(check_early) == "checked"
    assert staged(layer) == [2 * 8 * 64 * 512 * 4] * 2


def test_atomic_files_are_not_staged(layer: Layer, hdf5: Hdf5) -> None:
    succeed(layer, hdf5, STAGED, "atomic", 2)
    assert staged(layer) == [64 * 512 * 4] * 2, "one write before it was atomic"
