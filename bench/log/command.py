"""The command line of run.py."""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bench.common import panels, session
from bench.common.claims import Verdict
from bench.common.evidence import RunError
from bench.common.measure import measure
from bench.common.mpi import PARALLEL, Mpi, mpi_of
from bench.common.session import ROOT
from rich.console import Console

from headrace.bench import summary, tables
from headrace.bench.atomic import write_text
from headrace.bench.report import style
from headrace.errors import HeadraceError
from headrace.measuring import machine, programs

from . import claims, page, scale, scale_page
from .cases import LATER, Case, cases
from .execute import Runner


def arguments(words: Sequence[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="bench/log/run.py", description=__doc__)
    parser.add_argument(
        "--data", type=Path, required=True, help="folder with the maps and headers of E3SM-IO"
    )
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--warmup", type=int, default=0, help="rounds that are not counted (0)")
    parser.add_argument("--ranks", type=int, default=2, help="of the part over MPI; 1: none (2)")
    parser.add_argument("--hdf5", type=Path, default=PARALLEL, help="a parallel libhdf5")
    parser.add_argument(
        "--only", nargs="+", default=["*"], help="cases whose kernel/name match one of the patterns"
    )
    parser.add_argument(
        "--scale",
        action=argparse.BooleanOptionalAction,
        default=None,
        help="what the model says of up to 10 000 ranks; by default with cases over MPI",
    )
    parser.add_argument("--dir", type=Path, help="folder on the disk that is measured")
    parser.add_argument(
        "--output", "--out", type=Path, help="folder for results.json and README.md"
    )
    parser.add_argument("--list", action="store_true", help="name the cases only")
    return parser.parse_args(words)


def main(words: Sequence[str] | None = None) -> int:
    """1 when a run failed, 2 when none can be made."""
    given = arguments(words)
    chosen = session.select(cases(given.ranks), given.only)
    if (status := session.only_listed(chosen, given)) is not None:
        return status
    parent = given.dir or ROOT / "build"
    parent.mkdir(parents=True, exist_ok=True)
    console = session.console()
    with tempfile.TemporaryDirectory(prefix="bench-log-", dir=parent) as name:
        folder = Path(name).resolve()
        try:
            runner = Runner(
                folder, given.data.resolve(), mpi(chosen, given.hdf5, always=bool(given.scale))
            )
            about = describe(folder, given, runner)
            measured = measure(runner, chosen, given.repeats, given.warmup)
            samples = session.collect(measured, LATER.name, console)
            failed = any("error" in each for each in samples)
            scaled = scale_up(runner, given.scale is not False and not failed, console)
        except (HeadraceError, RunError) as error:
            sys.exit(f"not measured: {error}")
    about["machine"]["load_after"] = machine.load()
    return report(about, samples, given.output, console, scaled)


def mpi(chosen: Sequence[Case], library: Path, *, always: bool) -> Mpi | None:
    """Nothing where no case is over MPI, unless always; raises HeadraceError."""
    if not always and all(case.ranks == 1 for case in chosen):
        return None
    return mpi_of(library)


def scale_up(runner: Runner, wanted: bool, console: Console) -> scale.Scaled | RunError | None:
    """Nothing where it is not wanted, or over no MPI. What has been measured outlives an error."""
    if not wanted or runner.mpi is None:
        return None

    def tell(point: scale.Point) -> None:
        found = (f"{each}: native {point.native(each):.4g} s, log {point.log(each):.4g} s"
                 for each in scale.CACHES)  # fmt: skip
        text = f"modelled {point.preset} {point.placement} {point.ranks}: {'; '.join(found)}"
        console.print(text, markup=False, highlight=False, soft_wrap=True)

    try:
        return scale.measure(runner, tell)
    except (RunError, HeadraceError, OSError) as error:
        return RunError(f"many ranks: {error}")
    except KeyboardInterrupt:
        return RunError("many ranks: interrupted")


def describe(folder: Path, given: argparse.Namespace, runner: Runner) -> dict[str, Any]:
    """The machine, and what was asked for."""
    about = session.describe(folder)
    # The revision is that of the checkout, which need not be what is installed.
    about["installed"] = runner.installed
    if runner.mpi is not None:
        about["mpi"] = programs.mpi_version(runner.mpi.launcher)
    names = ("repeats", "warmup", "ranks", "only")
    return {"machine": about, "options": {name: getattr(given, name) for name in names}}


def report(
    about: dict[str, Any],
    samples: list[dict[str, Any]],
    output: Path | None,
    console: Console,
    scaled: scale.Scaled | RunError | None = None,
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
        files = figures(rows, verdicts)
        files["README.md"] = page.render(about, rows, samples, list(files))
        if isinstance(scaled, scale.Scaled):
            files["README.md"] += "\n" + scale_page.render(scaled) + "\n"
            files[scale_page.FIGURE] = scale_page.figure(scaled.points)
            files["scale.json"] = json.dumps(scaled.json(), indent=1) + "\n"
        for name, text in files.items():
            write_text(output / name, text)
    failures = [
        *summary.failures(rows, ()),
        *([str(scaled)] if isinstance(scaled, RunError) else []),
    ]
    return session.fail(failures, console)


def figures(rows: Sequence[summary.Row], verdicts: Sequence[Verdict]) -> dict[str, str]:
    """File name to text: the targets, and what the time until close consists of."""
    with style.settings():
        found = {"targets.svg": panels.targets(verdicts, "log")}
        for kernel in dict.fromkeys(row.kernel for row in rows):
            mine = [row for row in rows if row.kernel == kernel]
            found[f"{kernel}.svg"] = panels.parts(mine)
    return {name: panels.alone(text) for name, text in found.items()}
