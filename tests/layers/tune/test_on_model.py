"""Settings for a file system that is only modelled."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from harness.run import Command
from harness.stack import CLEAN

from headrace.trace.model.reader import read
from headrace.tune import modelled, written
from headrace.tune.modelled import Layout, Model
from headrace.tune.space import Setting

HEADRACE = Path(sys.executable).with_name("headrace")
PROGRAM = """
import h5py, numpy as np
with h5py.File("x.h5", "w") as f:
    f["d"] = np.zeros(8 << 20, "u1")
"""


@pytest.fixture(scope="module")
def trace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("trace")
    program = folder / "program.py"
    program.write_text(PROGRAM)
    made = folder / "x.hrtrace"
    stack = f"trace(arguments=true,output={made})"
    words: Command = [HEADRACE, "run", "--stack", stack, "--", sys.executable, program]
    subprocess.run(words, env=CLEAN, cwd=folder, check=True)
    return made


def test_more_targets_are_faster_and_as_told(trace: Path, tmp_path: Path) -> None:
    """One request of 8 MiB: latency and bandwidth of servers, which the preset has."""
    model = Model(read(trace), tmp_path / "ledgers", "lustre-4", 100)
    assert model.servers == 4
    found, best = modelled.best_of(model, list(model.all()))
    default = model.play(Layout())
    assert best.layout.targets == 4
    assert found.gain.median == pytest.approx(default.seconds / best.seconds)
    assert 3 < found.gain.median < 6, "servers, and locks of one, are what it waits for"
    assert 0.5 < best.rate / best.available <= 1
    assert default.rate / default.available < 0.3


def test_the_command_writes_what_to_set(trace: Path, tmp_path: Path) -> None:
    words: Command = [
        "tune",
        "--on",
        "lustre-48",
        "--ranks",
        "64",
        "-o",
        tmp_path / "t.toml",
        trace,
    ]
    done = subprocess.run(
        [HEADRACE, *words], env=CLEAN, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "are no measurements" in " ".join(done.stderr.split())
    told = written.read(tmp_path / "t.toml")
    assert told.about.file_system == "lustre-48"
    assert Setting("tune", "striping_factor", "48") in {each.setting for each in told.lines}
    shown = subprocess.run(
        [HEADRACE, "tune", "explain", tmp_path / "t.toml"],
        env=CLEAN, capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    assert "as the file system's defaults" in shown
    assert "chunk caches" not in shown


def test_a_preset_that_is_not_known(trace: Path, tmp_path: Path) -> None:
    words: Command = ["tune", "--on", "gpfs", "-o", tmp_path / "t.toml", trace]
    done = subprocess.run(
        [HEADRACE, *words], env=CLEAN, capture_output=True, text=True, check=False
    )
    assert done.returncode != 0
    assert "gpfs" in done.stderr
    assert "Traceback" not in done.stderr
