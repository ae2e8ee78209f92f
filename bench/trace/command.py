"""The command line of run.py."""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bench.build import BUILD, build
from bench.common import session
from bench.common.evidence import RunError
from bench.common.measure import measure
from bench.common.mpi import PARALLEL, mpi_of
from bench.common.session import ROOT

from headrace.bench.atomic import write_text
from headrace.errors import HeadraceError
from headrace.measuring import machine, programs

from . import claims, page
from .cases import CALLS, TRACE, Case, cases
from .execute import Runner, python

_KERNEL = "headrace_micro-1.14.5-openmpi"


def arguments(words: Sequence[str] | None = None) -> argparse.Namespace:
    parser = session.parser("trace", __doc__)
    parser.add_argument("--data", type=Path, help="folder with the maps and headers of E3SM-IO")
    parser.add_argument("--warmup", type=int, default=0, help="rounds that are not counted (0)")
    parser.add_argument("--ranks", type=int, default=2, help="of the part over MPI; 1: none (2)")
    parser.add_argument("--hdf5", type=Path, default=PARALLEL, help="a parallel libhdf5")
    return parser.parse_args(words)


def main(words: Sequence[str] | None = None) -> int:
    """1 when a run failed, 2 when none can be made."""
    given = arguments(words)
    chosen = session.select(cases(given.ranks), given.only)
    if (status := session.only_listed(chosen, given)) is not None:
        return status
    if any(case.kernel == CALLS for case in chosen):
        build(BUILD, _KERNEL)
    parent = given.dir or ROOT / "build"
    parent.mkdir(parents=True, exist_ok=True)
    console = session.console()
    with tempfile.TemporaryDirectory(prefix="bench-trace-", dir=parent) as name:
        folder = Path(name).resolve()
        try:
            runner = runner_of(folder, given, chosen)
            about = describe(folder, given, runner)
            measured = measure(runner, chosen, given.repeats, given.warmup)
            samples = session.collect(measured, TRACE.name, console)
        except (HeadraceError, RunError) as error:
            sys.exit(f"not measured: {error}")
    about["machine"]["load_after"] = machine.load()
    verdicts = claims.judge(samples)
    session.show(verdicts, console)
    if given.output is not None:
        given.output.mkdir(parents=True, exist_ok=True)
        about["claims"] = [each.json() for each in verdicts]
        text = json.dumps(about | {"samples": samples}, indent=1) + "\n"
        write_text(given.output / "results.json", text)
        write_text(given.output / "README.md", page.render(about, samples, verdicts))
    return session.fail(page.failed(samples), console)


def runner_of(folder: Path, given: argparse.Namespace, chosen: Sequence[Case]) -> Runner:
    """With MPI where a case needs it; raises HeadraceError."""
    mpi = mpi_of(given.hdf5) if any(case.ranks > 1 for case in chosen) else None
    return Runner(folder, given.data.resolve() if given.data else None, mpi)


def describe(folder: Path, given: argparse.Namespace, runner: Runner) -> dict[str, Any]:
    """The machine, and what was asked for."""
    about = session.describe(folder)
    # The revision is that of the checkout, which need not be what is installed.
    about["installed"] = runner.installed
    about["python"] = python()
    if runner.mpi is not None:
        about["mpi"] = programs.mpi_version(runner.mpi.launcher)
    names = ("repeats", "warmup", "ranks", "only")
    return {"machine": about, "options": {name: getattr(given, name) for name in names}}
