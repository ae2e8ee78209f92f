"""The benchmark of advice: what it counts as gained, and what it refuses."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from bench.advice import claims  # noqa: E402
from bench.advice.cases import FOLLOWED, Case  # noqa: E402
from bench.advice.execute import Runner  # noqa: E402
from bench.advice.programs import PROGRAMS  # noqa: E402
from bench.common.evidence import RunError  # noqa: E402

RULES = {each.rule: each for each in PROGRAMS}


def test_measures_and_reports(tmp_path: Path) -> None:
    output = tmp_path / "output"
    done = subprocess.run(
        [sys.executable, ROOT / "bench/advice/run.py", "--quick", "--repeats", "1", "--dir",
         tmp_path, "--output", output, "--only", "cache_too_small", "alignment"],
        check=False, capture_output=True, text=True, timeout=100,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    found = json.loads((output / "results.json").read_text())
    samples = found["samples"]
    assert [each["stack"] for each in samples] == ["native", FOLLOWED] * 2
    assert all(each["estimate"] > 0 for each in samples if each["stack"] == FOLLOWED)
    assert len(found["claims"]) == 4
    assert "cache_too_small" in (output / "README.md").read_text()


def test_a_rule_that_says_nothing_is_an_error(tmp_path: Path) -> None:
    silent = replace(RULES["cache_too_small"], original=RULES["cache_too_small"].followed)
    case = Case(silent, quick=True)
    with pytest.raises(RunError, match="says nothing"):
        Runner(tmp_path).sample(case, case.ways[1])


@pytest.mark.parametrize(("seconds", "met"), [(0.4, (True, True)), (0.8, (False, True)),
                                              (-1.5, (True, False))])  # fmt: skip
def test_gains_are_judged_beside_what_was_told(seconds: float, met: tuple[bool, bool]) -> None:
    common = {"kernel": "advice", "case": "flushed", "repeat": 0}
    samples = [
        common | {"stack": "native", "write_wall": 1.0},
        common | {"stack": FOLLOWED, "write_wall": seconds, "estimate": 1.0},
    ]
    assert tuple(each.met for each in claims.judge(samples)) == met
