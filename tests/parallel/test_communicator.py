"""The communicator that a connector gets, and the places that a report tells."""

from __future__ import annotations

import os
import shutil
import sys
from dataclasses import replace
from pathlib import Path

import h5py
import pytest
from harness.build import built
from harness.prefix import Hdf5
from harness.program import text_of
from harness.ranks import env_of
from harness.report import Report
from harness.run import run
from harness.stack import NATIVE
from parallel.together import Together

TALK = "headrace_talk"
BELOW_NULL = "headrace_null seat=both;under_vol=7291;under_info={}"
GROUPS = {"world": lambda _: 0, "halves": lambda rank: rank % 2, "self": lambda rank: rank}


def check_talk(report: Report, ranks: list[dict[str, int]]) -> None:
    """Every process heard the same of its group, and what it should."""
    heard = {talk["pid"]: talk for talk in report.select("talk")}
    assert heard.keys() == {rank["pid"] for rank in ranks}
    for rank in ranks:
        size = rank["ranks"]
        talk = heard[rank["pid"]]
        assert (talk["rank"], talk["ranks"]) == (rank["rank"], size)
        assert talk["gathered"].split() == [f"{i}:{i * i}" for i in range(size)]
        assert talk["gathered_any"].split() == [f"{i}" + f":{i}" * i for i in range(size)]
        assert talk["first"] == "from 0"
        assert talk["last"] == f"from {size - 1}"
        assert (talk["sum"], talk["max"], talk["min"]) == (sum(range(size)), size - 1, 0)
        assert talk["barrier"] is True
        assert talk["three_gib"] == ""
        assert "root" in talk["bad_root"] or "there is no rank" in talk["bad_root"]
        assert talk["bad_size"] == f"all_gather: 0 bytes for {size} ranks with 3 bytes each"


@pytest.mark.parametrize("connector", [TALK, BELOW_NULL], ids=["alone", "below_null"])
@pytest.mark.parametrize("ranks", [1, 2, 3])
def test_ranks_talk(together: Together, ranks: int, connector: str) -> None:
    told = together.ranks(ranks, connector, "world")
    check_talk(together.report, told)


@pytest.mark.parametrize("mode", ["halves", "self"])
def test_the_communicator_is_the_one_of_the_file(together: Together, mode: str) -> None:
    ranks = together.ranks(3, TALK, mode)
    assert sorted(rank["group"] for rank in ranks) == sorted(map(GROUPS[mode], range(3)))
    check_talk(together.report, ranks)


def make_a_file() -> None:
    h5py.File("x.h5", "w").close()
    print(os.getpid())


def test_a_serial_program_is_alone(tmp_path: Path, plugins: Path) -> None:
    report = tmp_path / "report.jsonl"
    env = env_of(TALK, plugins, report)
    done = run([sys.executable, "-c", text_of(make_a_file)], env=env, cwd=tmp_path)
    assert done.status == 0, done.text
    check_talk(Report(report), [{"pid": int(done.out), "rank": 0, "ranks": 1}])


@pytest.mark.parametrize("layer", ["null", "async", "log", "trace", "tune"])
def test_a_list_that_was_for_all_ranks(together: Together, layer: str) -> None:
    """HDF5 copies such a list with its communicator, which one rank by itself would wait in."""
    connector = f"headrace_{layer} under_vol=0;under_info={{}}"
    if layer == "null":
        connector = "headrace_null seat=both"
    told = together.ranks(2, connector, "alone")
    calls = together.report.select("file", seat="vol", call="file_create")
    assert {each["pid"] for each in calls} == {each["pid"] for each in told}
    assert not (together.folder / "alone.h5").exists()


@pytest.mark.parametrize("seat", ["vol", "both"])
@pytest.mark.parametrize("mode", GROUPS)
def test_the_report_tells_places(together: Together, seat: str, mode: str) -> None:
    ranks = together.ranks(2, f"headrace_null seat={seat}", mode)
    told = {"vol": ("file_create", "file_open")}
    if seat == "both":
        told["vfd"] = ("open", "open")
    for where, calls in told.items():
        events = together.report.select("file", seat=where)
        seen = [(e["pid"], e["call"], e.get("rank", -1), e.get("ranks", -1)) for e in events]
        expected = [(r["pid"], call, r["rank"], r["ranks"]) for r in ranks for call in calls]
        assert sorted(seen) == sorted(expected)


def test_a_report_on_some_ranks_is_no_hang(together: Together) -> None:
    """Nothing that a report needs is collective."""
    only_first = (
        'if [ "${OMPI_COMM_WORLD_RANK:-$PMI_RANK}" != 0 ]; then unset HEADRACE_REPORT; fi; '
        'exec "$0" "$@"'
    )
    env = together.env("headrace_null seat=both")
    done = together.start(3, env, "world", wrapper=["bash", "-c", only_first])
    assert done.status == 0, done.text
    assert {event.get("rank") for event in together.report.select("file")} == {0}


def test_files_left_to_the_end_of_mpi(together: Together) -> None:
    together.ranks(2, "headrace_null seat=both", "forget")
    closes = [counts["calls"].get("file_close") for counts in together.report.select("counts")]
    assert closes.count(1) == 2, "each rank's file was closed, by HDF5"


def test_a_private_copy_finds_the_module(together: Together) -> None:
    """A second libhdf5 in the process is served by a copy of our module loaded from memory."""
    (wheel,) = Path(h5py.__file__).parents[1].glob("h5py.libs/libhdf5-*.so*")
    ranks = together.ranks(2, "headrace_null seat=vol", "world", str(wheel))
    assert len(together.report.libraries()) == 2
    events = together.report.select("file", call="file_create")
    places = sorted((event.get("rank", -1), event.get("ranks", -1)) for event in events)
    assert places == [(-1, -1), (-1, -1), (0, 2), (1, 2)], ranks


@pytest.fixture
def moved(together: Together) -> Together:
    """The same plug-ins elsewhere, without MPI modules."""
    lib = together.folder / "moved"
    shutil.copytree(together.plugins, lib / "plugins")
    shutil.copy(together.plugins.parent / "libheadrace_core.so", lib)
    return replace(together, plugins=lib / "plugins")


def module_of(hdf5: Hdf5) -> str:
    return f"libheadrace_mpi_{hdf5.mpi}.so"


def test_a_missing_module_is_named(moved: Together) -> None:
    done = moved.start(1, moved.env(TALK), "world")
    assert done.status != 0
    assert f"the MPI module {moved.plugins}/{module_of(moved.hdf5)}" in done.text
    assert "`pip install .` in its sources" in done.text
    assert {"openmpi": "Open MPI", "mpich": "MPICH"}[moved.hdf5.mpi] in done.text


def test_who_needs_no_module_goes_on_without(moved: Together) -> None:
    log = moved.folder / "log"
    env = moved.env("headrace_null seat=both", HEADRACE_LOG_FILE=str(log))
    assert moved.start(2, env, "world").status == 0
    assert {"rank" in event for event in moved.report.select("file", seat="vol")} == {False}
    assert module_of(moved.hdf5) in log.read_text()


def test_an_unloadable_module_is_named(moved: Together) -> None:
    (moved.plugins.parent / module_of(moved.hdf5)).write_text("not a library")
    done = moved.start(1, moved.env(TALK), "world")
    assert done.status != 0
    assert f"{moved.plugins.parent}/{module_of(moved.hdf5)}" in done.text
    assert "cannot be loaded" in done.text


def test_a_module_for_another_mpi_is_refused(moved: Together) -> None:
    other = {"openmpi": "mpich", "mpich": "openmpi"}[moved.hdf5.mpi]
    original = built(f"lib/libheadrace_mpi_{other}.so")
    shutil.copy(original, moved.plugins.parent / module_of(moved.hdf5))
    done = moved.start(1, moved.env(TALK), "world")
    assert done.status != 0
    assert f"{module_of(moved.hdf5)} is one for {other}" in done.text


def test_hdf5_treats_the_file_as_one_of_its_own_driver(together: Together) -> None:
    """It sets atomicity in what it takes for a struct of mpio, and marks files by the driver."""
    for connector in (NATIVE, "headrace_null seat=both"):
        assert {rank["marked"] for rank in together.ranks(2, connector, "world")} == {0}
    assert together.report.calls("vfd")["open"] > 0
