"""`headrace replay` and `headrace recover`: what is in a log comes into its file."""

import contextlib
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

from headrace import launcher
from headrace.cli.output import console, error_console, reports_errors, warn
from headrace.errors import FileError
from headrace.logs.files import contents, waiting_logs
from headrace.logs.replay import replay as put_in_order

EXAMPLES = """
**Examples**

    headrace run --stack 'log(canonicalise=later)' -- ./simulation

    headrace replay out.h5

    mpirun -n 16 headrace replay --hdf5 /opt/hdf5/lib/libhdf5.so out.h5
"""

FileArgument = Annotated[Path, typer.Argument(metavar="FILE", help="The HDF5 file.")]
SyncOption = Annotated[
    bool, typer.Option("--sync", help="Make sure that the file survives a power cut, too.")
]
OutputOption = Annotated[
    Path | None,
    typer.Option(
        "--output", "-o", metavar="NEW", help="Leave FILE as it is, and make this one of it."
    ),
]
InPlaceOption = Annotated[
    bool,
    typer.Option(
        "--in-place",
        help="Write to FILE itself, which needs no room for a copy; but who is killed then may "
        "leave a file that nobody can open.",
    ),
]
SkipOption = Annotated[
    bool,
    typer.Option(
        "--skip-missing",
        help="Drop what the log holds of datasets that have been deleted from the file.",
    ),
]


Hdf5Option = Annotated[
    Path | None,
    typer.Option(
        "--hdf5",
        metavar="LIBHDF5",
        help="A parallel libhdf5, 1.14 or newer: all ranks that mpirun starts put FILE in order "
        "together, and compare it, each some datasets.",
        show_default=False,
    ),
]


@reports_errors
def replay(  # noqa: PLR0913, PLR0917, each is an option
    file: FileArgument,
    output: OutputOption = None,
    in_place: InPlaceOption = False,
    sync: SyncOption = False,
    skip_missing: SkipOption = False,
    hdf5: Hdf5Option = None,
) -> None:
    """Put the log that a program has left beside a file in order in that file.

    It is done in a copy, which takes the file's place when everything has been read back and
    compared, but for datasets with filters that may change values.
    """
    chosen = {"in_place": in_place, "sync": sync, "skip_missing": skip_missing, "hdf5": hdf5}
    _replay(file, output, after_crash=False, **chosen)


@reports_errors
def recover(  # noqa: PLR0913, PLR0917, each is an option
    file: FileArgument,
    output: OutputOption = None,
    in_place: InPlaceOption = False,
    sync: SyncOption = False,
    skip_missing: SkipOption = False,
    hdf5: Hdf5Option = None,
) -> None:
    """Put the log of a program that has crashed in order: all that its flushes cover."""
    chosen = {"in_place": in_place, "sync": sync, "skip_missing": skip_missing, "hdf5": hdf5}
    _replay(file, output, after_crash=True, **chosen)


def _replay(file: Path, output: Path | None, **options: Any) -> None:
    if output is not None and options["in_place"]:
        raise FileError("--output and --in-place: there is no copy in place")
    with _bar(file) as watch:
        done = put_in_order(file, output=output, **options, watch=watch)
    file = output or file
    for dataset, cause in done.unverified:
        warn(f"dataset {dataset} was not compared: values may change in {cause}")
    if launcher.rank(os.environ) > 0:
        return  # one of them tells the rest
    for log in done.foreign:
        warn(f"log {log} does not belong to {file}")
    if done.missing:
        warn(
            f"{done.missing} datasets of the log are not in the file, "
            "and what it held of them is lost"
        )
    text = "has all that was in its log" if done.logs else "has no log"
    console().print(f"{file} {text}", soft_wrap=True, markup=False, highlight=False)
    if done.dropped:
        warn(f"{done.dropped} bytes of the log were after the last flush, and are lost")


@contextlib.contextmanager
def _bar(file: Path) -> Iterator[Callable[[int], None]]:
    """Over the datasets of a file's logs; on a terminal only."""
    errors = error_console()
    datasets = None
    if errors.is_terminal:
        with contextlib.suppress(FileError):  # which is told when the log is used
            held = [
                told for log in waiting_logs(file) for told in contents(log)
            ]  # one of each rank
            datasets = len({dataset["name"] for one in held for dataset in one["datasets"]})
    columns = TextColumn("datasets in order"), BarColumn(), MofNCompleteColumn()
    with Progress(*columns, console=errors, transient=True, disable=not errors.is_terminal) as bar:
        task = bar.add_task("", total=datasets)
        yield lambda done: bar.update(task, completed=done)
