"""Files over MPI of which each rank has a log: mpi_logs, a choice, with its own rule."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from harness import ranks as of_ranks
from harness.corpus import compile_preload
from harness.layer import Layer
from harness.prefix import Hdf5
from harness.stack import NATIVE
from layers.log.ranks import left_by_cases as left
from layers.log.ranks.kept_by_ranks import FILES, KINDS, require_in_order

RANK = "headrace_log mpi_logs=rank;under_vol=0;under_info={}"
DEFAULT = "headrace_log under_vol=0;under_info={}"

pytestmark = pytest.mark.sanitized

MPI = [("1.14.5-openmpi", 2), ("1.14.5-openmpi", 4), ("2.2.0-mpich", 2), ("2.2.0-mpich", 4)]
everywhere = pytest.mark.parametrize(("hdf5", "ranks"), MPI, indirect=["hdf5"])

start = partial(of_ranks.start, connector=RANK)
succeed = partial(of_ranks.succeed, connector=RANK)


def logged_by(layer: Layer) -> list[int]:
    """Writes, by each rank."""
    told = [line["values"] for line in layer.report if line["event"] == "statistics"]
    return [values["writes_logged"] for values in told if "writes_logged" in values]


@pytest.mark.share(2)
@everywhere
@pytest.mark.parametrize("seed", range(3))
def test_random_programs(layer: Layer, hdf5: Hdf5, ranks: int, seed: int) -> None:
    succeed(layer, hdf5, ranks, "mpi_logs", "write", str(seed))
    require_in_order(layer, *FILES)
    assert all(writes > 30 for writes in logged_by(layer)), logged_by(layer)
    assert len(logged_by(layer)) == ranks
    assert layer.counted("calls_left_to_hdf5") == 0


@pytest.mark.share(2)
@everywhere
@pytest.mark.parametrize("seed", range(3))
def test_calls_that_look_at_data(layer: Layer, hdf5: Hdf5, ranks: int, seed: int) -> None:
    succeed(layer, hdf5, ranks, "mpi_logs", "calls", str(seed))
    require_in_order(layer, "calls.h5")
    assert all(writes > 6 for writes in logged_by(layer))


@pytest.mark.parametrize("mode", ["uneven", "calls"])
def test_metadata_is_read_collectively(layer: Layer, hdf5: Hdf5, mode: str) -> None:
    """Writes ask HDF5 nothing that ranks would wait for each other in."""
    succeed(layer, hdf5, 3, "mpi_logs", mode, "3", COLLECTIVE_METADATA="1")
    require_in_order(layer, f"{mode}.h5")
    assert all(writes > 6 for writes in logged_by(layer)), logged_by(layer)
    assert len(logged_by(layer)) == 3


@everywhere
def test_atomic_files_are_not_logged(layer: Layer, hdf5: Hdf5, ranks: int) -> None:
    succeed(layer, hdf5, ranks, "mpi_logs", "atomic")
    require_in_order(layer, "atomic.h5")
    assert all(writes <= 1 for writes in logged_by(layer)), "one write before it was atomic"


@everywhere
@pytest.mark.parametrize("mode", ["fail", "lose"])
def test_an_error_of_one_rank_is_told_to_all(
    layer: Layer, hdf5: Hdf5, ranks: int, mode: str
) -> None:
    succeed(layer, hdf5, ranks, "mpi_logs", mode)
    assert not list(layer.folder.glob("*.headrace")), "no log is left"


CASES = [
    left.converted,
    left.anonymous,
    left.committed,
    left.cut,
    left.twice,
    left.linked,
    left.grown,
    left.forked,
    left.full,
    left.others,
    pytest.param(left.long, marks=pytest.mark.plain),  # a sanitizer keeps what is freed
]


@pytest.mark.parametrize("leaves", CASES, ids=lambda leaves: leaves.__name__)
def test_seldom_things(layer: Layer, hdf5: Hdf5, leaves: Callable[[], None]) -> None:
    ranks = 3 if leaves == left.others else 2
    done = start(layer, hdf5, ranks, "mpi_cases", leaves.__name__)
    assert done.status == 0, done.text
    layer.plain(leaves)
    assert not list(layer.folder.glob("*.headrace")), "no log is left"


def test_ranks_write_between_each_other(layer: Layer, hdf5: Hdf5) -> None:
    """Two of four have something to write; MPI-IO may read and write back what is in between."""
    late = compile_preload(layer.folder, Path(__file__).with_name("late_writes.c"))
    done = start(layer, hdf5, 4, "mpi_cases", "woven", LD_PRELOAD=str(late))
    assert done.status == 0, done.text
    layer.plain(left.woven)
    assert logged_by(layer) == [10], "by the first rank alone"


def told(layer: Layer, rank: int) -> dict[str, str]:
    """What a rank's transfer lists said, by what it wrote."""
    lines = (layer.folder / f"told.{rank}").read_text().splitlines()
    return dict(line.split(": ") for line in lines)


@pytest.mark.parametrize(
    ("hdf5", "ranks"), [("1.14.5-openmpi", 3), ("2.2.0-mpich", 2)], indirect=["hdf5"]
)
def test_transfer_lists_say_what_hdf5_says(layer: Layer, hdf5: Hdf5, ranks: int) -> None:
    """But where HDF5 gives up what it writes together because of what another rank converts."""
    done = start(layer, hdf5, ranks, "mpi_told", connector=NATIVE)
    assert done.status == 0, done.text
    natively = [told(layer, rank) for rank in range(ranks)]
    done = start(layer, hdf5, ranks, "mpi_told")
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
def test_a_file_that_is_left_open(layer: Layer, hdf5: Hdf5, ranks: int) -> None:
    succeed(layer, hdf5, ranks, "mpi_logs", "forget")
    require_in_order(layer, "left.h5")


def test_a_crash_leaves_what_was_flushed(layer: Layer, hdf5: Hdf5) -> None:
    start(layer, hdf5, 2, "mpi_logs", "crash")
    logs = list((layer.folder / "left.h5.headrace").iterdir())
    assert len(logs) == 2, "what was logged since the flush is nobody's"
    for log in logs:
        log.rename(log.with_name("0" * 32 + log.name[32:]))
    for ending in ("", *(f".{kind}.expected" for kind in KINDS)):
        (layer.folder / f"left.h5{ending}").rename(layer.folder / f"flushed.h5{ending}")
    # Whoever writes a file of that name next removes them.
    succeed(layer, hdf5, 2, "mpi_logs", "forget")
    require_in_order(layer, "left.h5", "flushed.h5")


def test_nothing_is_logged_unless_asked_for(layer: Layer, hdf5: Hdf5) -> None:
    succeed(layer, hdf5, 2, "mpi_logs", "atomic", connector=DEFAULT)
    assert all(writes == 0 for writes in logged_by(layer))


def test_ranks_that_are_not_told_alike(layer: Layer, hdf5: Hdf5) -> None:
    """None waits for ever, and nothing is logged."""
    succeed(layer, hdf5, 2, "mpi_logs", "atomic", connector=(RANK, DEFAULT))
    assert not any(logged_by(layer))
