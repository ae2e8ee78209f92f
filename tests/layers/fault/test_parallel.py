"""One rank has an error: the others go on, and nobody waits for ever."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from harness.prefix import Hdf5
from harness.ranks import launch
from harness.run import Command, Result, run
from harness.stack import NATIVE, stack_env
from layers.fault.conftest import settings

ROWS = "f['a'][0, 0], f['a'][0, -1], f['a'][1, 0], f['a'][1, -1], f['a'][:].sum()"
COLLECTIVE = [0, 1]


class Ranks:
    def __init__(self, hdf5: Hdf5, folder: Path, plain: Callable[[str], str]) -> None:
        self.hdf5 = hdf5
        self.folder = folder
        self.plain = plain

    def run(self, mode: int, stack: str = "fault", **options: object) -> Result:
        """Two ranks; hanging is a failure."""
        for old in self.folder.glob("calls.*"):
            old.unlink()
        more = {} if stack == NATIVE else settings(self.folder / "journal", **options)
        program = Path(__file__).with_name("collective.py")
        library = self.hdf5.prefix / "lib/libhdf5.so"
        started: Command = [sys.executable, program, library, self.hdf5.mpi, str(mode)]
        env = stack_env(stack, None, **more)
        return run([*launch(self.hdf5, 2), *started], env=env, cwd=self.folder, limit=60)

    def journal(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in (self.folder / "journal").read_text().splitlines()]

    def failed(self, rank: int) -> str:
        """The calls that failed on a rank, and why."""
        path = self.folder / f"calls.{rank}"
        return path.read_text() if path.exists() else ""


@pytest.fixture
def ranks(hdf5: Hdf5, tmp_path: Path, plain: Callable[[str], str]) -> Ranks:
    return Ranks(hdf5, tmp_path, plain)


@pytest.mark.parametrize("mode", COLLECTIVE)
def test_nothing_by_default(ranks: Ranks, tmp_path: Path, mode: int) -> None:
    found = []
    for stack in (NATIVE, "fault"):
        done = ranks.run(mode, stack)
        assert (done.status, ranks.failed(0), ranks.failed(1)) == (0, "", ""), done.text
        found.append((tmp_path / "x.h5").read_bytes())
    assert found[0] == found[1]


@pytest.mark.parametrize("mode", COLLECTIVE)
@pytest.mark.parametrize(
    ("kind", "op"), [(kind, op) for kind in ("error", "short") for op in ("read", "write")]
)
def test_a_transfer_fails_on_one_rank(ranks: Ranks, mode: int, kind: str, op: str) -> None:
    done = ranks.run(mode, kind=kind, op=op, type="raw", rank=1, errno="ENOSPC")
    assert done.status == 0, done.text
    assert ranks.failed(0) == ""
    assert ranks.failed(1).startswith(f"H5D{op}\n")
    assert f"injected fault: ENOSPC at matching operation 1, {op} of 80000 bytes" in ranks.failed(1)
    (line,) = ranks.journal()
    assert (line["rank"], line["operation"], line["length"]) == (1, op, 80000)
    first, last, _, other, total = map(int, ranks.plain(ROWS).split())
    assert (first, last) == (1, 1)
    if op == "read":
        assert total == 30000
    else:
        assert other == 0
        assert total == 10000 + 2 * line.get("transferred", 0) // 8


@pytest.mark.parametrize(
    ("op", "call"), [("flush", "H5Fflush"), ("truncate", "H5Fflush"), ("close", "H5Fclose")]
)
def test_a_call_of_all_ranks_fails_on_one(ranks: Ranks, op: str, call: str) -> None:
    done = ranks.run(0, kind="error", op=op, rank=1)
    assert done.status == 0, done.text
    assert ranks.failed(0) == ""
    assert ranks.failed(1).startswith(call)
    assert f"injected fault: EIO at matching operation 1, {op} of file" in ranks.failed(1)


def test_an_open_fails_on_all(ranks: Ranks) -> None:
    done = ranks.run(0, kind="error", op="open", rank=1, count=0)
    assert done.status == 0, done.text
    for rank in (0, 1):
        assert ranks.failed(rank).startswith("H5Fcreate\n")
        assert "injected fault: EIO" in ranks.failed(rank)


def test_a_power_cut_over_mpi_is_of_the_process_only(ranks: Ranks) -> None:
    done = ranks.run(0, kind="power_cut", outcome="torn")
    assert done.status == 0, done.text
    for rank in (0, 1):
        assert "over MPI a power cut has outcome=kept only" in ranks.failed(rank)


def test_a_rank_is_killed(ranks: Ranks) -> None:
    done = ranks.run(0, kind="power_cut", outcome="kept", type="raw", rank=1)
    assert done.status != 0, done.text
    assert [line["rank"] for line in ranks.journal()] == [1]
