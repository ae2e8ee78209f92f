"""What does a layer that does nothing cost? Nanoseconds per operation and per callback of `null`.

Times plain HDF5 operations natively and under `null` in each of its seats, in turns and in fresh
processes; see README.md in this folder.
"""

from __future__ import annotations

import argparse
import datetime
import sys
import tempfile
from pathlib import Path

from rich.console import Console
from rich.progress import Progress

from headrace.measuring import machine

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from bench.build import build
from bench.micro import output
from bench.micro.child import ProofError
from bench.micro.measure import BATCHES, measure, steps
from bench.micro.programs import programs

ROOT = Path(__file__).resolve().parents[2]
WIDTH = 150  # the tables are unreadable below


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repetitions", type=int, default=21, help="default %(default)s")
    parser.add_argument("--build", type=Path, default=ROOT / "build/bench", help="build folder")
    parser.add_argument(
        "--results", type=Path, help="folder for CSV and JSON; default bench/results/DATE-micro"
    )
    given = parser.parse_args()
    if given.repetitions < 3:
        parser.error("fewer than three repetitions have no spread to judge them by")
    return given


def main() -> None:
    given = arguments()
    console = Console()
    console.width = max(console.width, WIDTH)
    console.print("[dim]building the benchmark kernels[/]")
    build(given.build.absolute())
    chosen = programs(given.build.absolute())
    now = datetime.datetime.now(datetime.UTC)
    about = machine.describe(Path(tempfile.gettempdir())) | {
        **machine.sources(ROOT),
        "date": now.isoformat(timespec="seconds"),
        "repetitions": given.repetitions,
        "batches": BATCHES,
        "load_before": machine.load(),
    }
    with Progress(console=console, transient=True) as progress:
        task = progress.add_task("measuring", total=steps(chosen, given.repetitions))
        try:
            plugins = given.build.absolute() / "lib/plugins"
            measurements = measure(
                chosen, plugins, given.repetitions, lambda: progress.advance(task)
            )
        except ProofError as error:
            sys.exit(f"not measured: {error}")
    about["load_after"] = machine.load()
    for measurement in measurements:
        output.show(console, measurement)
    console.print(output.verdict([cell for each in measurements for cell in each.cells()]))
    results = given.results or ROOT / f"bench/results/{now:%Y-%m-%d}-micro"
    for path in output.write(results, measurements, about):
        console.print(f"[dim]written:[/] {path}", soft_wrap=True)


if __name__ == "__main__":
    main()
