"""The benchmark of the layer `trace`: what it counts as measured, and what it refuses."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from bench.common.evidence import RunError  # noqa: E402
from bench.common.ways import Way  # noqa: E402
from bench.trace import cases, claims, execute, page  # noqa: E402

ATTRIBUTES = cases.Case(cases.PYTHON, "attributes", cases.INTERPRETED, parameters={"count": 80})


@pytest.mark.long
def test_measures_and_reports(tmp_path: Path) -> None:
    output = tmp_path / "output"
    done = subprocess.run(
        [sys.executable, ROOT / "bench/trace/run.py", "--repeats", "1", "--dir", tmp_path,
         "--output", output, "--only", "python/attributes", "cgns/*", "calls-h5py/attribute*"],
        check=False, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    written = (output / "results.json").read_text()
    samples = json.loads(written)["samples"]
    compiled = ["native", "null", "trace", "trace, profile"]
    interpreted = [*compiled[:3], "trace without lines", compiled[3]]
    assert [each["stack"] for each in samples] == [*interpreted, *compiled, *interpreted]
    assert all(("trace" in each) == ("trace" in each["stack"]) for each in samples)
    assert all(each["calls"] > 1 for each in samples[:5])
    text = (output / "README.md").read_text()
    for claim in ("added a call ≤ 0.2 µs", "cost ≤ 2%", "cost ≤ 1%", "memory ≤ 16 MiB"):
        assert f"| {claim} |" in text
    assert "| bytes a call ≤ 12 bytes | e3sm*/*, trace | not measured |" in text
    for private in (tmp_path, ROOT):
        assert str(private) not in text + written
    assert not list(tmp_path.glob("bench-trace-*"))


@pytest.fixture
def runner(tmp_path: Path) -> execute.Runner:
    folder = tmp_path / "runs"
    folder.mkdir()
    return execute.Runner(folder)


def test_a_way_that_records_nothing_is_an_error(runner: execute.Runner) -> None:
    with pytest.raises(RunError, match="nothing was recorded"):
        runner.sample(ATTRIBUTES, Way("trace", "null"))
    with pytest.raises(RunError, match="nothing was recorded"):
        runner.sample(ATTRIBUTES, Way("trace", "trace(seat=vol)"))
    assert runner.sample(ATTRIBUTES, cases.TRACE)["trace"]["calls"] > 160


def test_a_trace_of_what_is_not_traced_is_an_error(runner: execute.Runner) -> None:
    with pytest.raises(RunError, match="there is a trace of null"):
        runner.sample(ATTRIBUTES, Way(cases.NULL.name, "trace"))


def sample(stack: str, repeat: int, **values: Any) -> dict[str, Any]:
    return {"kernel": "python", "case": "rows", "stack": stack, "repeat": repeat, **values}


def test_costs_are_over_null_of_the_same_repeat() -> None:
    samples = []
    for repeat, slow in enumerate((1.0, 3.0, 2.0)):
        for stack, factor in (("native", 0.5), ("null", 1.0), ("trace", 1.04)):
            seconds = {"write_wall": slow * factor, "memory": int(factor * 100 * (1 << 20))}
            traced = {"trace": {"calls": 10, "bytes": 130}}
            samples.append(sample(stack, repeat, **seconds, **traced))
    by_claim = {(each.claim, each.case): each for each in claims.judge(samples)}
    cost = by_claim["cost ≤ 5%", "python/rows, trace"]
    assert cost.median == pytest.approx(0.04)
    assert cost.met
    assert cost.every
    memory = by_claim["memory ≤ 16 MiB", "python/rows, trace"]
    assert memory.median == pytest.approx(4)
    assert not by_claim["cost ≤ 1%", "python/rows, trace, profile"].met
    text = page.render({"machine": {}}, samples, claims.judge(samples))
    assert "| python/rows | 1.00 s | +108.0%" in text
    assert "13 bytes" in text


def test_claims_of_a_run_that_failed_are_not_met() -> None:
    good = [sample(stack, 0, write_wall=1.0, memory=0) for stack in ("native", "null", "trace")]
    failing = [*good, sample("trace", 1, error="it was killed")]
    cost = next(each for each in claims.judge(failing) if each.case == "python/rows, trace")
    assert not cost.met
    assert "it was killed" in page.render({"machine": {}}, failing, claims.judge(failing))
