"""The command line of run.py."""

from __future__ import annotations

import argparse
import datetime
import fnmatch
import signal
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from headrace import values
from headrace.bench import jobs, machine, summary, tables
from headrace.bench.atomic import write_text
from headrace.errors import HeadraceError

from . import claims, figures, limits, page
from .cases import ASYNC, QUICK, Case, Scale, cases
from .evidence import RunError
from .execute import ROOT, Runner
from .workloads.phases import loops_for

_LIMIT_BYTES = 256 << 20
_WIDTH = 130  # the table is unreadable below


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


def measure(
    runner: Runner, chosen: Sequence[Case], repeats: int, warmup: int
) -> Iterator[dict[str, Any]]:
    """The record of each run, of those that fail, too: case by case, its ways in turns."""
    for case in chosen:
        ways = {way.name: way for way in case.ways}
        whole = [(jobs.Case(case.kernel, case.name), tuple(ways))]
        for job in jobs.schedule(whole, repeats, warmup):
            record: dict[str, Any] = {
                "kernel": case.kernel, "case": case.name, "stack": job.stack, "ranks": 1,
                "repeat": job.repeat, "warmup": job.warmup, "layers": ways[job.stack].layers,
                "parameters": case.parameters,
            }  # fmt: skip
            try:
                record |= runner.sample(case, ways[job.stack])
            except (RunError, OSError) as error:
                record["error"] = str(error)
            yield record
        runner.forget()


def main(words: Sequence[str] | None = None) -> int:
    """1 when a run failed, 2 when none can be made."""
    given = arguments(words)
    scale = scale_of(given)
    chosen = [
        case
        for case in cases(scale)
        if any(fnmatch.fnmatchcase(f"{case.kernel}/{case.name}", each) for each in given.only)
    ]
    if given.list or not chosen:
        print("\n".join(f"{each.kernel}/{each.name}" for each in chosen) or "no such case")
        return 0 if chosen else 2
    parent = given.dir or ROOT / "build"
    parent.mkdir(parents=True, exist_ok=True)
    console = Console()
    console.width = max(console.width, _WIDTH)
    with tempfile.TemporaryDirectory(prefix="bench-async-", dir=parent) as name:
        folder = Path(name).resolve()
        try:
            runner = Runner(folder)
            about = describe(folder, given, scale)
            samples = collect(runner, chosen, given, console)
        except HeadraceError as error:
            sys.exit(f"not measured: {error}")
    about["machine"]["load_after"] = machine.load()
    return report(about, chosen, samples, given.output, console)


def describe(folder: Path, given: argparse.Namespace, scale: Scale) -> dict[str, Any]:
    """The machine and its limits, measured before anything else runs."""
    about = machine.describe(folder) | machine.sources(ROOT)
    about["date"] = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
    about["load_before"] = machine.load()
    size = scale.sizes[0] if given.quick else _LIMIT_BYTES
    options = {"repeats": given.repeats, "warmup": given.warmup, "only": given.only}
    found = limits.measure(folder, size, given.repeats)
    return {"machine": about, "options": options, "cores": scale.cores, "limits": found}


def collect(
    runner: Runner, chosen: Sequence[Case], given: argparse.Namespace, console: Console
) -> list[dict[str, Any]]:
    """All samples; tells what each was."""
    samples: list[dict[str, Any]] = []
    for sample in _until_interrupted(measure(runner, chosen, given.repeats, given.warmup)):
        samples.append(sample)
        walls = (f"{side} {sample[f'{side}_wall']:.4g} s" for side in ("write", "read")
                 if f"{side}_wall" in sample)  # fmt: skip
        told = sample.get("error") or ", ".join(walls)
        where = f"{sample['kernel']}/{sample['case']} {sample['stack']} #{sample['repeat']}"
        console.print(f"{where}: {told}", markup=False, highlight=False, soft_wrap=True)
    return samples


def _until_interrupted(samples: Iterator[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Ends with an error in place of the rest when Ctrl-C or SIGTERM comes: nothing is lost."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    last: dict[str, Any] = {"kernel": "none", "case": "none", "stack": ASYNC, "ranks": 1}
    try:
        for sample in samples:
            last = sample
            yield sample
    except KeyboardInterrupt:
        names = {name: last[name] for name in ("kernel", "case", "stack", "ranks")}
        yield names | {"repeat": -1, "error": "interrupted after this"}


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
    shown = Table(*page.HEADINGS)
    for each in verdicts:
        shown.add_row(*(cell.replace("*", "") for cell in page.cells(each)))
    console.print(shown)
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
    for failure in (failures := summary.failures(rows, ())):
        console.print(f"FAILED {failure}", markup=False, highlight=False, soft_wrap=True)
    return 1 if failures else 0
