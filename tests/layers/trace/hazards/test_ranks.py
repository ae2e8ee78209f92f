"""Hazards of real ranks, and of neighbours that have none."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from harness.build import PLUGINS
from harness.prefix import Hdf5
from harness.ranks import env_of, launch
from harness.run import Command, run

import headrace.trace
from headrace.trace.analysis.hazards import RAW, WAR, WAW, Hazards, find, verdicts

PROGRAM = Path(__file__).with_name("ranks_that_meet.py")
OPENMPI, MPICH = "1.14.5-openmpi", "2.2.0-mpich"


def hazards_of(
    hdf5: Hdf5, folder: Path, ranks: int, *does: str, collective: bool = False, options: str = ""
) -> Hazards:
    """Of the program, told what ranks do and how they wait for each other."""
    library = hdf5.prefix / "lib/libhdf5.so"
    words = [hdf5.mpi, *does, str(int(collective))]
    started: Command = [*launch(hdf5, ranks), sys.executable, PROGRAM, library, *words]
    connector = f"headrace_trace output=traced;{options}under_vol=0;under_info={{}}"
    report = folder / "report"
    env = env_of(connector, PLUGINS, report, PYTHONPATH=str(PROGRAM.parents[3]))
    done = run(started, env=env, cwd=folder, limit=120)
    assert (done.status, list(folder.glob("calls.*"))) == (0, []), done.text
    trace = headrace.trace.open(folder / "traced")
    assert [each.rank for each in trace.processes] == list(range(ranks))
    return find(trace)


@pytest.mark.parametrize("hdf5", [OPENMPI, MPICH], indirect=True)
@pytest.mark.parametrize("ranks", [2, 4])
@pytest.mark.parametrize(("does", "kind"), [("raw", RAW), ("war", WAR), ("waw", WAW)])
def test_each_kind_is_found(hdf5: Hdf5, tmp_path: Path, ranks: int, does: str, kind: str) -> None:
    found = hazards_of(hdf5, tmp_path, ranks, does, "barrier")
    assert {each.kind for each in found} == {kind}
    assert sum(each.cases for each in found) == ranks
    for each in found:
        assert (each.path, each.certain, each.together) == ("/a", True, False)
        before, after = each.ranks
        assert before == (after + 1) % ranks
        assert each.elements == f"{before * 4}:{before * 4 + 4}, 0:8"
    staging, logs = verdicts(found)
    assert staging.safe is logs.safe is (kind == WAR)


@pytest.mark.parametrize("hdf5", [OPENMPI, MPICH], indirect=True)
@pytest.mark.parametrize(
    ("does", "between"),
    [
        ("raw", "flush"),
        ("waw", "flush"),
        ("raw", "close"),
        ("touching", "barrier"),
        ("interleaved", "barrier"),
    ],
)
def test_neighbours_have_none(hdf5: Hdf5, tmp_path: Path, does: str, between: str) -> None:
    found = hazards_of(hdf5, tmp_path, 4, does, between)
    assert (len(found), found.files, found.unknown, found.missing) == (0, 1, 0, 0)
    assert [each.safe for each in verdicts(found)] == [True, True]


@pytest.mark.parametrize("hdf5", [OPENMPI, MPICH], indirect=True)
def test_collective_reads_put_logs_in_order(hdf5: Hdf5, tmp_path: Path) -> None:
    found = hazards_of(hdf5, tmp_path, 2, "raw", "barrier", collective=True)
    assert {each.kind for each in found} == {RAW}
    staging, logs = verdicts(found)
    assert (staging.safe, logs.safe) == (False, True)
    assert "rank" in staging.text
    assert "/a[" in staging.text


@pytest.mark.parametrize("hdf5", [OPENMPI, MPICH], indirect=True)
@pytest.mark.parametrize("named", [True, False])
def test_ranks_delete_what_others_have_written(hdf5: Hdf5, tmp_path: Path, named: bool) -> None:
    """The attribute that all of them write together is no hazard."""
    options = f"arguments={str(named).lower()};"
    found = hazards_of(hdf5, tmp_path, 2, "deleted", "barrier", options=options)
    assert {(each.kind, each.path, each.attribute, each.certain) for each in found} == {
        ("deletion after write", "/a", "", named)
    }
    staging, logs = verdicts(found)
    assert (staging.safe, logs.safe) == (False if named else None, True)
