"""The command line of run.py."""

from __future__ import annotations

import argparse
import fnmatch
import json
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bench.common import session
from bench.common.measure import measure
from bench.common.mpi import PARALLEL, mpi_of
from bench.common.session import ROOT
from rich.console import Console

from headrace.bench.atomic import write_text
from headrace.errors import HeadraceError
from headrace.measuring import machine

from . import claims, page
from .cases import FOLLOWED, cases
from .execute import Runner


def arguments(words: Sequence[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="bench/advice/run.py", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="tiny sizes, for the test")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--warmup", type=int, default=0, help="rounds that are not counted (0)")
    parser.add_argument("--only", nargs="+", default=["*"], help="rules, by patterns")
    parser.add_argument("--hdf5", type=Path, default=PARALLEL, help="a parallel libhdf5")
    parser.add_argument("--dir", type=Path, help="folder on the disk that is measured")
    parser.add_argument("--output", type=Path, help="folder for results.json and README.md")
    return parser.parse_args(words)


def main(words: Sequence[str] | None = None) -> int:
    """1 when a run failed, 2 when none can be made."""
    given = arguments(words)
    chosen = [
        case
        for case in cases(quick=given.quick)
        if any(fnmatch.fnmatchcase(case.name, each) for each in given.only)
    ]
    if not chosen:
        print("no such rule")
        return 2
    parent = given.dir or ROOT / "build"
    parent.mkdir(parents=True, exist_ok=True)
    console = session.console()
    with tempfile.TemporaryDirectory(prefix="bench-advice-", dir=parent) as name:
        folder = Path(name).resolve()
        try:
            mpi = mpi_of(given.hdf5) if any(case.ranks > 1 for case in chosen) else None
            runner = Runner(folder, mpi)
            about = session.describe(folder) | {"installed": runner.installed}
            measured = measure(runner, chosen, given.repeats, given.warmup)
            samples = session.collect(measured, FOLLOWED, console)
        except HeadraceError as error:
            sys.exit(f"not measured: {error}")
    about["load_after"] = machine.load()
    return report({"machine": about}, samples, given.output, console)


def report(
    about: dict[str, Any], samples: list[dict[str, Any]], output: Path | None, console: Console
) -> int:
    """Shows the table of claims, writes all files; 1 when a run failed."""
    judged = claims.judge(samples)
    session.show(judged, console)
    if output is not None:
        output.mkdir(parents=True, exist_ok=True)
        whole = about | {"claims": [each.json() for each in judged], "samples": samples}
        write_text(output / "results.json", json.dumps(whole, indent=1) + "\n")
        write_text(output / "README.md", page.render(about, samples, judged))
    failures = [f"{each['case']}: {each['error']}" for each in samples if "error" in each]
    return session.fail(failures, console)
