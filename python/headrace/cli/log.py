"""`headrace log ls`: what the logs that wait beside a file hold."""

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.filesize import decimal
from rich.table import Table
from rich.text import Text

from headrace.cli.output import console, reports_errors, warn
from headrace.errors import FileError
from headrace.log_files import contents, waiting_logs

app = typer.Typer(name="log", help="Look into logs of the `log` layer.", no_args_is_help=True)


@app.callback()
def _group() -> None:
    """Keeps `ls` a subcommand, though it is the only one."""


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
