"""The example `overlap` counts what several ranks write to the same place."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from harness.build import built
from harness.prefix import Hdf5
from harness.ranks import env_of, launch
from harness.run import Command, run

RANKS, ROW = 3, 40  # bytes


def test_ranks_count_together(hdf5: Hdf5, tmp_path: Path) -> None:
    program = Path(__file__).with_name("overlapping.py")
    library = hdf5.prefix / "lib/libhdf5.so"
    started: Command = [sys.executable, program, library, hdf5.mpi]
    plugins = built("lib/plugins/libheadrace_overlap.so").parent
    connector = "headrace_overlap under_vol=0;under_info={}"
    env = env_of(connector, plugins, tmp_path / "report", PYTHONPATH=str(program.parents[1]))
    done = run([*launch(hdf5, RANKS), *started], env=env, cwd=tmp_path, limit=60)
    assert (done.status, list(tmp_path.glob("calls.*"))) == (0, []), done.text
    lines = [json.loads(line) for line in (tmp_path / "report").read_text().splitlines()]
    told = [line for line in lines if line["event"] == "statistics"]
    assert [line["name"] for line in told] == ["headrace_overlap"]  # of one rank
    assert told[0]["values"] == {
        "written_bytes": RANKS * 3 * ROW,
        "overlapped_bytes": RANKS * ROW,
        "overlapped_by_ranks_bytes": (RANKS - 1) * ROW,
    }
