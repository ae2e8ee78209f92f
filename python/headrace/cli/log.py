"""`headrace log`: what the logs that wait beside a file hold; those not its own can be deleted."""

import sys
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.filesize import decimal
from rich.table import Table
from rich.text import Text

from headrace.cli.output import console, reports_errors, warn
from headrace.errors import FileError
from headrace.logs.files import Foreign, contents, folder_of, foreign_logs, waiting_logs

app = typer.Typer(name="log", help="Look into logs of the `log` layer.", no_args_is_help=True)


@app.command("ls")
@reports_errors
def ls(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The HDF5 file, or a log.")],
) -> None:
    """List what waits in the logs of a file: writes, rows, bytes and what was overwritten.

    Status 1 says that a log is damaged.
    """
    if not file.is_file():
        raise FileError(f"{file}: there is no such file")
    logs = waiting_logs(file) or [file] * (file.suffix == ".log")
    if not logs:
        console().print(f"{file} has no log", soft_wrap=True, markup=False, highlight=False)
    damaged = False
    for log in logs:
        for told in contents(log):
            _show(f"{log}, rank {told['rank']}" if "rank" in told else str(log), told)
            damaged = damaged or bool(told["damage"])
    if damaged:
        raise typer.Exit(1)


@app.command("clean")
@reports_errors
def clean(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The HDF5 file, or where it was.")],
    yes: Annotated[
        bool, typer.Option("--yes", "-y", help="Delete what may be of use to somebody, too.")
    ] = False,
) -> None:
    """Delete the logs in the folder of a file that are not its own.

    Programs that were killed leave some. Asks before it deletes what may belong to a file that was
    moved or copied; where nobody can answer, that stays, and the status is 1.
    """
    if not file.is_file() and not folder_of(file).is_dir():
        raise FileError(f"{file}: there is no such file, and no log of it")
    kept = [one for one in foreign_logs(file) if not _removed(one, yes=yes)]
    if not kept:
        text = f"{file} has no log but its own"
        console().print(text, soft_wrap=True, markup=False, highlight=False)
        return
    for one in kept:
        warn(f"{one.paths[0]} {one.doubt}, and was not deleted")
    raise typer.Exit(1)


def _removed(one: Foreign, *, yes: bool) -> bool:
    if one.doubt and not yes:
        question = (
            f"{one.paths[0]} {one.doubt}. If its file was moved or copied without it, that needs "
            "it. Delete it?"
        )
        if not sys.stdin.isatty() or not typer.confirm(question):
            return False
    try:
        one.remove()
    except OSError as error:
        raise FileError(f"{error.filename}: {error.strerror}") from None
    for path in one.paths:
        console().print(f"deleted {path}", soft_wrap=True, markup=False, highlight=False)
    return True


def _show(log: str, told: dict[str, Any]) -> None:
    console().print(log, soft_wrap=True, markup=False, highlight=False)
    table = Table(box=None, pad_edge=False)
    table.add_column("dataset", overflow="fold")
    for heading in ("writes", "rows", "bytes", "overwritten"):
        table.add_column(heading, justify="right", no_wrap=True)
    for dataset in told["datasets"]:
        numbers = (f"{dataset[name]:,}" for name in ("writes", "rows"))
        again = dataset["overlapping"]
        table.add_row(
            Text(dataset["name"]),
            *numbers,
            decimal(dataset["bytes"]),
            "unknown" if again is None else decimal(again),
        )
    console().print(table)
    data = f"{decimal(told['data_bytes'])} of data in {told['data_segments']} segments"
    index = f"{decimal(told['index_bytes'])} of index in {told['index_segments']}"
    patterns = f"{told['patterns']} patterns"
    console().print(f"{data}, {index}, {patterns}", soft_wrap=True, highlight=False)
    if told["damage"]:
        warn(f"{log}: {told['damage']}")
    elif not told["closed"]:
        left = told["size"] - told["covered"]
        warn(f"{log}: its file was not closed, and {left} bytes at its end are of no flush")
