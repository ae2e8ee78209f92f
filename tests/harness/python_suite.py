"""Run the test suite of a Python package under a stack, outcome by outcome."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from importlib.metadata import distributions, files
from pathlib import Path

from harness.kept import kept
from harness.outcome import Outcomes, differences, explain, from_junit
from harness.report import Report
from harness.run import TimeLimitError, run
from harness.stack import stack_env

# netCDF4's suite compares the sizes of compressed random numbers, which no codec promises: each run
# of a suite gets the same numbers.
SEEDED = """
import random, sys, numpy, pytest
random.seed(1)
numpy.random.seed(1)
sys.exit(pytest.main())
"""


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
    pytest = [sys.executable, "-c", SEEDED, "-v", "-p", "no:cacheprovider", "-c", "/dev/null"]
    done = run(
        [*pytest, "--rootdir", folder, f"--junitxml={junit}", *arguments],
        env=stack_env(spec, report, TMPDIR=str(temporary)),
        cwd=folder,
        limit=limit,
    )
    # 0: all green; 1: some failed. Anything else is a crash or a misuse: no outcomes to compare.
    assert done.status in (0, 1), f"status {done.status} under {spec}\n{done.text[-4000:]}"
    return SuiteRun(from_junit(junit), Report(report))


def native_outcomes(
    package: str, suite: str, folder: Path, run: Callable[[Path], SuiteRun]
) -> Outcomes:
    """Of a package's suite, or a part of it, as long as the same is installed; run in `folder`."""
    shipped = [Path(str(file.locate())) for file in files(package) or []]
    libraries = [file for file in shipped if ".so" in file.name]
    installed = sorted(f"{each.name} {each.version}" for each in distributions())
    tools = str(shutil.which("ncdump"))  # which netCDF4's tests start
    found: dict[str, str] = kept(
        f"{package}-suite",
        [sys.version, *installed, tools, suite, *libraries],
        lambda: _patiently(folder, run).outcomes,
    )
    return found


def _patiently(folder: Path, run: Callable[[Path], SuiteRun]) -> SuiteRun:
    """PyTables' Blosc2 tests have hung once where no plug-in of ours was loaded."""
    try:
        return run(folder)
    except TimeLimitError:
        (again := folder / "again").mkdir()
        return run(again)


def assert_same(native: Outcomes, other: SuiteRun, known: Collection[str] = ()) -> None:
    """`known`: what must end otherwise, and why is said where that is listed."""
    different = differences(native, other.outcomes)
    unknown = {name: pair for name, pair in different.items() if name not in known}
    assert not unknown, explain(unknown)
    assert different.keys() >= set(known), set(known) - different.keys()
