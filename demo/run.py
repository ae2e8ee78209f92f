"""An unmodified h5py program on a real HDF5 file, natively and under Headrace: is all the same?

Runs the program both ways, compares what it wrote with readers that have no plug-ins, and prints
a table. The exit status is 0 only when Headrace handled the files and everything is identical.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from demo import proof, sample
from demo.proof import Check, Run
from rich.console import Console
from rich.table import Table

HERE = Path(__file__).resolve().parent
WORK = HERE.parent / "build/demo"


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
    parser.add_argument("--rounds", type=int, default=3, help="the fastest counts")
    parser.add_argument("--work", type=Path, default=WORK, help="folder for the files written")
    return parser.parse_args()


def launcher() -> list[str]:
    """The `headrace` command of this Python's environment, with the stack that changes nothing."""
    command = shutil.which("headrace", path=os.fspath(Path(sys.executable).parent))
    if command is None:
        sys.exit("there is no `headrace` beside this Python: `make` installs it")
    return [command, "run", "--stack", "null", "--"]


def runs(program: Path, source: Path, work: Path, rounds: int) -> tuple[Run, Run]:
    """The program natively and under Headrace, in turns; the fastest run of each."""
    command = [sys.executable, str(program)]
    report = work / "report.jsonl"
    native: list[Run] = []
    ours: list[Run] = []
    for _ in range(rounds):
        report.unlink(missing_ok=True)
        native.append(proof.run(command, source, work / "native" / source.name))
        ours.append(
            proof.run([*launcher(), *command], source, work / "headrace" / source.name, report)
        )
    return min(native, key=lambda run: run.seconds), min(ours, key=lambda run: run.seconds)


def table(source: Path, native: Run, ours: Run, *, identical: bool) -> Table:
    """One line about it all."""
    result = Table(title="An unmodified h5py program, natively and under `headrace run`")
    result.add_column("file", overflow="fold")
    for heading in ("objects", "bytes", "native", "Headrace", "callbacks", "identical"):
        result.add_column(heading, justify="right")
    result.add_row(
        source.name,
        str(ours.objects),
        f"{ours.output.stat().st_size:,}",
        f"{native.seconds:.3f} s",
        f"{ours.seconds:.3f} s",
        f"{sum(ours.calls.values()):,}",
        "[green]yes[/]" if identical else "[red]no[/]",
    )
    return result


def show(console: Console, check: Check) -> None:
    """One check, with what it found."""
    marks = {True: "[green]yes[/]", False: "[red] no[/]", None: "[dim]  -[/]"}
    console.print(f"  {marks[check.passed]}  {check.claim}", highlight=False, soft_wrap=True)
    for line in check.details:
        console.print(f"       {line}", style="red", markup=False, highlight=False, soft_wrap=True)


def main() -> int:
    """The whole demonstration; returns the exit status."""
    given = arguments()
    source = sample.fetch(WORK) if given.file is None else given.file.absolute()
    work = given.work.absolute()
    for folder in ("native", "headrace"):
        (work / folder).mkdir(parents=True, exist_ok=True)
    try:
        native, ours = runs(given.program.absolute(), source, work, given.rounds)
        checks = proof.checks(source, native, ours)
    except proof.ProgramError as error:
        sys.exit(str(error))
    identical = all(check.passed is not False for check in checks)
    console = Console()
    console.print(table(source, native, ours, identical=identical))
    for check in checks:
        show(console, check)
    return 0 if identical else 1


if __name__ == "__main__":
    sys.exit(main())
