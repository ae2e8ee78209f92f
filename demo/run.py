"""An unmodified h5py program rewrites a real HDF5 file compressed, natively and under Headrace.

Does so with a file of 2 MB, and once with one that has its content many times over, so large that
people wait for it. Runs the program both ways in turns, compares what it wrote with readers that
have no plug-ins, prints a table and draws a figure. The exit status is 0 only when Headrace handled
the files and all that a reader sees is the same.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from demo import plot, proof, sample
from demo.proof import Check, Run
from rich.console import Console
from rich.progress import track
from rich.table import Table

from headrace.measuring.stats import Spread

HERE = Path(__file__).resolve().parent
WORK = HERE.parent / "build/demo"
SIDES = {"write": "rewrite", "read": "read back"}


def arguments() -> argparse.Namespace:
    """What the command line says."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--file", type=Path, help="rewrite this HDF5 file instead of the sample")
    parser.add_argument(
        "--program",
        type=Path,
        default=HERE / "rewrite.py",
        help="h5py program, called with input and output, that prints JSON as demo/rewrite.py "
        "does, and writes no times into the file",
    )
    parser.add_argument("--stack", default="async", help="layers of Headrace (async)")
    parser.add_argument("--rounds", type=int, default=3, help="runs of each way; the median counts")
    parser.add_argument(
        "--times",
        type=int,
        default=70,
        help="how often the larger file has the sample's large datasets; 0: only the sample (70)",
    )
    parser.add_argument("--work", type=Path, default=WORK, help="folder for the files written")
    return parser.parse_args()


def launcher(stack: str) -> list[str]:
    """The `headrace` command of this Python's environment."""
    command = shutil.which("headrace", path=os.fspath(Path(sys.executable).parent))
    if command is None:
        sys.exit("there is no `headrace` beside this Python: `make` installs it")
    return [command, "run", "--stack", stack, "--"]


def runs(
    given: argparse.Namespace, source: Path, work: Path, rounds: int
) -> tuple[list[Run], list[Run]]:
    """The program natively and under Headrace, in turns, each first every other time."""
    command = [sys.executable, str(given.program.absolute())]
    report = work / "report.jsonl"
    native: list[Run] = []
    ours: list[Run] = []
    turns = [("native", "headrace") if number % 2 == 0 else ("headrace", "native")
             for number in range(rounds)]  # fmt: skip
    ways = [way for turn in turns for way in turn]
    for way in track(ways, source.name, console=Console(stderr=True), transient=True):
        output = work / way / source.name
        if way == "native":
            native.append(proof.run(command, source, output))
        else:
            report.unlink(missing_ok=True)
            launched = [*launcher(given.stack), *command]
            ours.append(proof.run(launched, source, output, report))
    return native, ours


def spread(found: Sequence[Run], side: str) -> Spread:
    """The seconds of a side over all runs."""
    return Spread.of([run.seconds[side] for run in found])


def table(
    source: Path, stack: str, native: Sequence[Run], ours: Sequence[Run], *, same: bool
) -> Table:
    """A line for writing and one for reading back."""
    result = Table(title=f"{source.name}, rewritten with gzip by an unmodified h5py program")
    result.add_column("seconds")
    for heading in ("native", stack, "speed-up", "same data"):
        result.add_column(heading, justify="right", no_wrap=heading in ("native", stack))
    for side, name in SIDES.items():
        before, after = spread(native, side), spread(ours, side)
        result.add_row(
            name,
            *(f"{each.median:.3f} ({each.least:.3f}-{each.most:.3f})" for each in (before, after)),
            f"{before.median / after.median:.2f}x",
            "[green]yes[/]" if same else "[red]no[/]",
        )
    return result


def draw(path: Path, source: Path, stack: str, native: Sequence[Run], ours: Sequence[Run]) -> None:
    """The same as a figure."""
    groups = [
        plot.Group(name, [("native", spread(native, side)), (stack, spread(ours, side))])
        for side, name in SIDES.items()
    ]
    title = f"{source.name}, rewritten by an unmodified h5py program"
    path.write_text(plot.svg(title, groups), encoding="utf-8")


def show(console: Console, check: Check) -> None:
    """One check, with what it found."""
    marks = {True: "[green]yes[/]", False: "[red] no[/]", None: "[dim]  -[/]"}
    console.print(f"  {marks[check.passed]}  {check.claim}", highlight=False, soft_wrap=True)
    for line in check.details:
        console.print(f"       {line}", style="red", markup=False, highlight=False, soft_wrap=True)


def demonstrate(given: argparse.Namespace, source: Path, rounds: int, name: str) -> float | None:
    """With one file. The median seconds of a round; None when something is not the same."""
    work = given.work.absolute()
    for folder in ("native", "headrace"):
        (work / folder).mkdir(parents=True, exist_ok=True)
    native, ours = runs(given, source, work, rounds)
    checks = proof.checks(source, native[-1], ours[-1])
    same = all(check.passed is not False for check in checks)
    console = Console()
    console.print(table(source, given.stack, native, ours, same=same))
    for check in checks:
        show(console, check)
    figure = work / f"{name}.svg"
    draw(figure, source, given.stack, native, ours)
    console.print(f"  figure: {figure}", highlight=False, soft_wrap=True)
    return (
        sum(spread(way, side).median for way in (native, ours) for side in SIDES) if same else None
    )


def main() -> int:
    """The whole demonstration; returns the exit status."""
    given = arguments()
    source = sample.fetch(WORK) if given.file is None else given.file.absolute()
    try:
        seconds = demonstrate(given, source, given.rounds, "demo")
        if seconds is not None and given.file is None and given.times > 0:
            expected = seconds * given.times
            Console().print(f"\nNow with {given.times} times as much, in about {expected:.0f} s:")
            larger = sample.enlarge(source, given.times)
            seconds = demonstrate(given, larger, 1, "demo-large")
    except proof.ProgramError as error:
        sys.exit(str(error))
    return 0 if seconds is not None else 1


if __name__ == "__main__":
    sys.exit(main())
