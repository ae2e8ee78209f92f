"""One rank's system fails at one call: no rank waits for ever, and no promise is broken."""

from __future__ import annotations

import shutil
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import h5py
import pytest
from harness.corpus import compile_preload
from harness.ranks import succeed
from harness.seed import of_the_day

if TYPE_CHECKING:
    from harness.layer import Layer
    from harness.prefix import Hdf5

pytestmark = pytest.mark.sanitized

RANKS = 3
LAST = {"mpi_faults": 6, "mpi_grown": 3}  # the number of a program's last write
WAYS = {
    "close": "mpi_logs=rank;",
    "later": "mpi_logs=rank;canonicalise=later;sync=true;",
    "node": "mpi_logs=node;canonicalise=later;sync=true;",
}


def check(promised: list[int]) -> None:
    """Each element is of the last write that was promised to its rank, or of a later one."""
    with h5py.File("x.h5") as file:
        assert "_headrace_log" not in file.attrs
        for name in file:
            found = file[name][()].reshape(-1, RANKS)
            for rank, last in enumerate(promised):
                assert (found[:, rank] >= last).all(), (name, rank, last, found[:, rank])
                assert (found[:, rank] <= 6).all(), name


@pytest.fixture(scope="module")
def fault(tmp_path_factory: pytest.TempPathFactory) -> str:
    """What stands between a rank and the system."""
    source = Path(__file__).with_name("one_rank_fails.c")
    return str(compile_preload(tmp_path_factory.mktemp("fault"), source))


def ranks_of(
    layer: Layer, hdf5: Hdf5, way: str, fault: str, program: str = "mpi_faults", **fails: str
) -> list[dict[str, Any]]:
    """What each rank says, in their order."""
    connector = f"headrace_log {WAYS[way]}under_vol=0;under_info={{}}"
    preload = {"LD_PRELOAD": fault, **fails}
    return succeed(layer, hdf5, RANKS, program, "x.h5", connector=connector, **preload)


def calls_of(
    layer: Layer, hdf5: Hdf5, way: str, fault: str, program: str = "mpi_faults"
) -> list[int]:
    """How many calls of each rank could fail, where none does."""
    told = ranks_of(layer, hdf5, way, fault, program, FAILS_COUNT=str(layer.folder / "count"))
    assert [one["promised"] for one in told] == [LAST[program]] * RANKS
    return [int((layer.folder / f"count.{rank}").read_text()) for rank in range(RANKS)]


# The rank that fails, and whether it does at all later calls, too.
CASES = [
    pytest.param(hdf5, (way, rank, for_good), marks=[] if rank == usual else pytest.mark.long)
    for hdf5, way, for_good, usual in (
        ("1.14.5-openmpi", "later", False, 1),
        ("2.2.0-mpich", "later", True, 0),
        ("2.2.0-mpich", "close", False, 1),
        ("1.14.5-openmpi", "close", True, 0),
        ("2.2.0-mpich", "node", False, 1),
    )
    for rank in (0, 1)
]


@pytest.mark.share(2)
@pytest.mark.timeout(7200)  # each run has a limit of its own
@pytest.mark.parametrize(("hdf5", "case"), CASES, indirect=["hdf5"])
def test_one_call_fails(layer: Layer, hdf5: Hdf5, fault: str, case: tuple[str, int, bool]) -> None:
    way, rank, for_good = case
    for at in of_the_day(range(calls_of(layer, hdf5, way, fault)[rank]), 4):
        shutil.rmtree(layer.folder / "x.h5.headrace", ignore_errors=True)
        (layer.folder / "x.h5").unlink()
        fails = {"FAILS_RANK": str(rank), "FAILS_AT": str(at)}
        if for_good:
            fails["FAILS_FOR_GOOD"] = "1"
        told = ranks_of(layer, hdf5, way, fault, **fails)
        assert len({one["results"] for one in told}) == 1, (fails, told)
        promised = [one["promised"] for one in told]
        layer.python("h5py.File('x.h5', 'r+').close()", "recover=true;")
        layer.plain(partial(check, promised))


def check_grown(promised: list[int]) -> None:
    with h5py.File("x.h5") as file:
        found = file["x"][:, 0].reshape(-1, RANKS)
        assert (found >= promised).all(), (promised, found)
        assert (found <= 3).all(), found


@pytest.mark.share(1)
@pytest.mark.timeout(1800)
@pytest.mark.parametrize(
    ("hdf5", "for_good"), [("1.14.5-openmpi", False), ("2.2.0-mpich", True)], indirect=["hdf5"]
)
def test_one_call_fails_before_an_extent(
    layer: Layer, hdf5: Hdf5, fault: str, for_good: bool
) -> None:
    """A drain that fails on one rank is told to all that give the dataset another extent."""
    refused = False
    for at in range(calls_of(layer, hdf5, "close", fault, "mpi_grown")[1]):
        shutil.rmtree(layer.folder / "x.h5.headrace", ignore_errors=True)
        (layer.folder / "x.h5").unlink()
        fails = {"FAILS_RANK": "1", "FAILS_AT": str(at)}
        if for_good:
            fails["FAILS_FOR_GOOD"] = "1"
        told = ranks_of(layer, hdf5, "close", fault, "mpi_grown", **fails)
        assert len({one["results"] for one in told}) == 1, (fails, told)
        refused = refused or "x" in told[0]["results"]
        layer.python("h5py.File('x.h5', 'r+').close()", "recover=true;")
        layer.plain(partial(check_grown, [one["promised"] for one in told]))
    assert refused, "no extent was refused"
