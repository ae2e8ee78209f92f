"""The command line of run.py."""

from __future__ import annotations

import argparse
import fnmatch
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from bench.common import session
from bench.common.measure import measure
from bench.common.session import ROOT
from rich.console import Console

from headrace import values
from headrace.bench import summary, tables
from headrace.bench.atomic import write_text
from headrace.errors import HeadraceError
from headrace.measuring import machine

from . import claims, figures, limits, page
from .cases import ASYNC, QUICK, Case, Scale, cases
from .execute import Runner
from .workloads.phases import loops_for

_LIMIT_BYTES = 256 << 20


def arguments(words: Sequence[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="bench/async/run.py", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="tiny sizes, for the test")
    parser.add_argument("--repeats", type=int, help="5, or 1 with --quick")
    parser.add_argument("--warmup", type=int, default=0, help="rounds that are not counted (0)")
    parser.add_argument("--sizes", help="of the field: 64MiB,256MiB,2GiB; peers at the first")
    parser.add_argument("--model-count", type=int, help="of small writes on the model (10000)")
    parser.add_argument(
        "--only", nargs="+", default=["*"], help="cases whose kernel/name match one of the patterns"
    )
    parser.add_argument("--dir", type=Path, help="folder on the disk that is measured")
    parser.add_argument("--output", type=Path, help="folder for results.json, README.md, figures")
    parser.add_argument("--list", action="store_true", help="name the cases only")
    given = parser.parse_args(words)
    given.repeats = given.repeats or (1 if given.quick else 5)
    return given


def scale_of(given: argparse.Namespace) -> Scale:
    """The sizes that were asked for, fitted to this machine."""
    cores = int(machine.describe(ROOT)["cores"])
    scale = QUICK if given.quick else replace(Scale(), threads=threads_up_to(cores))
    scale = replace(scale, cores=cores, loops=loops_for(scale.seconds))
    if given.sizes:
        scale = replace(
            scale,
            sizes=tuple(int(str(values.parse("size", each))) for each in given.sizes.split(",")),
        )
    if given.model_count:
        scale = replace(scale, model_count=given.model_count)
    return scale


def threads_up_to(cores: int) -> tuple[int, ...]:
    """Powers of two, and all cores."""
    powers = (2**power for power in range(cores.bit_length()))
    return tuple(sorted({each for each in powers if each < cores} | {cores}))


def main(words: Sequence[str] | None = None) -> int:
    """1 when a run failed, 2 when none can be made."""
    given = arguments(words)
    scale = scale_of(given)
    chosen = [
        case
        for case in cases(scale)
        if any(fnmatch.fnmatchcase(f"{case.kernel}/{case.name}", each) for each in given.only)
    ]
    if (status := session.only_listed(chosen, given)) is not None:
        return status
    parent = given.dir or ROOT / "build"
    parent.mkdir(parents=True, exist_ok=True)
    console = session.console()
    with tempfile.TemporaryDirectory(prefix="bench-async-", dir=parent) as name:
        folder = Path(name).resolve()
        try:
            runner = Runner(folder)
            about = describe(folder, given, scale)
            about["machine"]["installed"] = runner.installed
            measured = measure(runner, chosen, given.repeats, given.warmup)
            samples = session.collect(measured, ASYNC, console)
        except HeadraceError as error:
            sys.exit(f"not measured: {error}")
    about["machine"]["load_after"] = machine.load()
    return report(about, chosen, samples, given.output, console)


def describe(folder: Path, given: argparse.Namespace, scale: Scale) -> dict[str, Any]:
    """The machine and its limits, measured before anything else runs."""
    about = session.describe(folder)
    size = scale.sizes[0] if given.quick else _LIMIT_BYTES
    options = {"repeats": given.repeats, "warmup": given.warmup, "only": given.only}
    found = limits.measure(folder, size, given.repeats)
    return {"machine": about, "options": options, "cores": scale.cores, "limits": found}


def report(
    about: dict[str, Any],
    chosen: Sequence[Case],
    samples: list[dict[str, Any]],
    output: Path | None,
    console: Console,
) -> int:
    """Shows the table of targets, writes all files; 1 when a run failed."""
    rows = summary.rows(samples)
    verdicts = claims.judge(samples)
    session.show(verdicts, console)
    if output is not None:
        output.mkdir(parents=True, exist_ok=True)
        about["claims"] = [each.json() for each in verdicts]
        # First of all: what has been measured must not be lost in drawing it.
        write_text(output / "results.json", tables.to_json(about, rows, samples))
        bounds = figures.Limits(about["limits"], about["cores"])
        files = figures.draw(rows, samples, bounds)
        notes = {f"{each.kernel}/{each.name}": each.note for each in chosen}
        files["README.md"] = page.render(about, rows, samples, notes, list(files))
        for name, text in files.items():
            write_text(output / name, text)
    return session.fail(summary.failures(rows, ()), console)
