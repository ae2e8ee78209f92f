"""Run the test suite of a Python package under a stack, outcome by outcome."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.outcome import Outcomes, differences, explain, from_junit
from harness.report import Report
from harness.run import run
from harness.stack import stack_env


@dataclass(frozen=True)
class SuiteRun:
    outcomes: Outcomes
    report: Report


def run_suite(spec: str, folder: Path, arguments: Sequence[str | Path], limit: float) -> SuiteRun:
    """One pytest process in `folder`; `-v` so that a crash leaves the test's name behind."""
    folder.mkdir(exist_ok=True)
    temporary = folder / "tmp"  # a clean place, so that no run finds what another left
    temporary.mkdir()
    junit, report = folder / "junit.xml", folder / "report.jsonl"
    pytest = [sys.executable, "-m", "pytest", "-v", "-p", "no:cacheprovider", "-c", "/dev/null"]
    done = run(
        [*pytest, "--rootdir", folder, f"--junitxml={junit}", *arguments],
        env=stack_env(spec, report, TMPDIR=str(temporary)),
        cwd=folder,
        limit=limit,
    )
    # 0: all green; 1: some failed. Anything else is a crash or a misuse: no outcomes to compare.
    assert done.status in (0, 1), f"status {done.status} under {spec}\n{done.text[-4000:]}"
    return SuiteRun(from_junit(junit), Report(report))


def assert_same(native: SuiteRun, other: SuiteRun) -> None:
    different = differences(native.outcomes, other.outcomes)
    assert not different, explain(different)
