"""The benchmark of the layer tune: what it measures, and what it refuses."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from bench.common.evidence import RunError  # noqa: E402
from bench.common.ways import NATIVE  # noqa: E402
from bench.tune.cases import PYTHON, TUNE, Case  # noqa: E402
from bench.tune.execute import Runner  # noqa: E402
from bench.tune.programs import PROGRAMS  # noqa: E402


def test_measures_and_reports(tmp_path: Path) -> None:
    output = tmp_path / "output"
    done = subprocess.run(
        [sys.executable, ROOT / "bench/tune/run.py", "--quick", "--repeats", "1", "--dir",
         tmp_path, "--output", output, "--only", "python/filled", "python/rows-read"],
        check=False, capture_output=True, text=True, timeout=100,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    found = json.loads((output / "results.json").read_text())
    assert [each["stack"] for each in found["samples"]] == ["native", TUNE.name] * 2
    assert all(each["memory"] > 0 for each in found["samples"])
    assert "python/rows-read" in (output / "README.md").read_text()


def test_other_contents_are_an_error(tmp_path: Path) -> None:
    program = next(each for each in PROGRAMS if each.name == "filled")
    case = Case(PYTHON, "filled", {"N": 6}, program)
    runner = Runner(tmp_path)
    runner.sample(case, NATIVE)
    other = replace(program, text=program.text.replace("rng.random(1000)", "np.ones(1000)"))
    with pytest.raises(RunError, match="reads something else"):
        runner.sample(replace(case, program=other), TUNE)


def test_what_is_best_on_modelled_file_systems(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, ROOT / "bench/tune/lustre.py", "--only", "hacc/arrays-collective",
         "--output", tmp_path],
        check=False, capture_output=True, text=True, timeout=240,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    found = json.loads((tmp_path / "results.json").read_text())["found"]
    assert [each["preset"] for each in found] == ["lustre-4", "lustre-48", "lustre-160"]
    for each in found:
        assert each["gain"] > 1
        assert each["rate"] > each["default_rate"] > 0
        assert "tune(striping_factor=" in (tmp_path / "README.md").read_text()
