"""Two traces side by side, and how like each other runs are."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from launched import HEADRACE, Launcher
from tracing.conftest import Traced

import headrace.trace
from headrace.trace import compare, signature


def traced(layer: Traced, name: str, program: str) -> headrace.trace.Trace:
    layer.python(program, f"output={name};")
    return headrace.trace.open(layer.folder / name)


PROGRAM = """
with h5py.File("x.h5", "w") as f:
    for i in range({datasets}):
        d = f.create_dataset(f"d{{i}}", ({rows}, 100))
        for row in range({rows}):
            d[row] = np.arange(100)
"""


def test_changes_are_those_of_each_object(layer: Traced) -> None:
    few = traced(layer, "few", PROGRAM.format(datasets=2, rows=10))
    many = traced(layer, "many", PROGRAM.format(datasets=3, rows=20))
    found = {each.path: each for each in compare.changes(few, many)}
    assert (found["/d1"].before.written, found["/d1"].after.written) == (4000 * 2, 8000 * 2)
    assert (found["/d2"].before.calls, found["/d2"].after.written) == (0, 16000)
    times = [abs(each.seconds) for each in compare.changes(few, many)]
    assert times == sorted(times, reverse=True)


def test_runs_that_do_the_same_are_near(layer: Traced) -> None:
    rows = PROGRAM.format(datasets=2, rows=200)
    below = "under_vol=7206;under_info={under_vol=0;under_info={}}"
    traces = [
        traced(layer, "rows", rows),
        traced(layer, "again", rows),
        traced(Traced(layer.folder, below=below), "async", rows),
        traced(layer, "tiny", PROGRAM.format(datasets=300, rows=1)),
    ]
    apart = signature.distances([signature.signature(each) for each in traces])
    assert np.allclose(apart, apart.T)
    assert apart[0, 1] == apart[0, 2] == 0
    assert apart[0, 3] > 0.1


def test_the_commands(tmp_path: Path) -> None:
    launcher = Launcher(tmp_path)
    (tmp_path / "a.py").write_text("import h5py, numpy as np" + PROGRAM.format(datasets=1, rows=5))
    (tmp_path / "b.py").write_text("import h5py, numpy as np" + PROGRAM.format(datasets=1, rows=9))
    for name in ("a.py", "b.py"):
        assert launcher(HEADRACE, "trace", "--", sys.executable, name).status == 0
    told = launcher(HEADRACE, "trace", "diff", "a.hrtrace", "b.hrtrace").out.decode()
    assert "/d0" in told
    assert "3.91 KiB → 7.03 KiB" in told
    told = launcher(HEADRACE, "trace", "similar", "a.hrtrace", "b.hrtrace").out.decode()
    assert "0.000" in told
    missing = launcher(HEADRACE, "trace", "similar", "a.hrtrace", "missing.hrtrace")
    assert missing.status == 2
    assert "missing.hrtrace" in missing.err.decode()
