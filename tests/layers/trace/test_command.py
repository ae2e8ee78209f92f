"""`headrace trace`: what it says of a program."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from launched import HEADRACE, Launcher

import headrace.trace

PROGRAM = """
import sys
import h5py
import numpy as np

with h5py.File("x.h5", "w") as f:
    d = f.create_dataset("fields/u", (200, 1000), "f8", chunks=(200, 1000), compression="gzip")
    for i in range(200):
        d[i] = np.random.default_rng(i).random(1000)
    f["small"] = 3
sys.exit(5)
"""


@pytest.fixture
def launcher(tmp_path: Path) -> Launcher:
    (tmp_path / "analysis.py").write_text(PROGRAM)
    return Launcher(tmp_path)


def test_it_says_where_the_time_went(launcher: Launcher) -> None:
    done = launcher(HEADRACE, "trace", "--", sys.executable, "analysis.py")
    assert done.status == 5, "the program's own status"
    told = done.err.decode()
    assert "1 file" in told
    assert "/fields/u: " in told
    assert "1.53 MiB written" in told
    assert "by line 7 of analysis.py" in told
    folder = launcher.folder / "analysis.hrtrace"
    assert f"trace: {folder}" in told
    assert len(list(folder.iterdir())) == 1
    again = launcher(HEADRACE, "trace", "analysis.hrtrace")
    assert again.status == 0
    assert "/fields/u: " in again.err.decode()
    assert launcher(HEADRACE, "report", "analysis.hrtrace").status == 0
    assert "/fields/u" in (launcher.folder / "analysis.html").read_text()


def test_a_later_run_takes_the_place_of_the_trace(launcher: Launcher) -> None:
    for _ in range(2):
        launcher(HEADRACE, "trace", "--stack", "trace,async", "--", sys.executable, "analysis.py")
    assert len(list((launcher.folder / "analysis.hrtrace").iterdir())) == 1


def test_no_key_to_the_names_stays(launcher: Launcher) -> None:
    stack = ("--stack", "trace(anonymous=true)")
    folder = launcher.folder / "analysis.hrtrace"
    folder.mkdir()
    (folder / "names.key").write_bytes(b"of an earlier run")
    told = []
    for _ in range(2):
        done = launcher(HEADRACE, "trace", *stack, "--", sys.executable, "analysis.py")
        assert done.status == 5, done.text
        (process,) = headrace.trace.open(folder).processes
        told.append({each["path"] for each in process.objects.values()})
        assert [each.suffix for each in folder.iterdir()] == [".trace"]
    assert told[0] & told[1] == {"/"}, "each run has names of its own"


def test_nothing_but_a_trace_is_replaced(launcher: Launcher) -> None:
    (launcher.folder / "kept").mkdir()
    (launcher.folder / "kept/thesis.tex").write_text("\\begin{document}")
    done = launcher(HEADRACE, "trace", "-o", "kept", "--", sys.executable, "analysis.py")
    assert done.status == 2
    assert "thesis.tex" in done.err.decode()
    assert not (launcher.folder / "x.h5").exists()


def test_a_program_without_hdf5_is_told(launcher: Launcher) -> None:
    done = launcher(HEADRACE, "trace", "--", "true")
    assert done.status == 0
    assert "nothing was recorded" in done.err.decode()
