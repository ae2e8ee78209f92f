"""`headrace log ls`: what the logs that wait beside a file hold."""

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.filesize import decimal
from rich.table import Table

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
    """List what waits in the logs of a file: segments, patterns, bytes and what was overwritten."""
    if not file.is_file():
        raise FileError(f"{file}: there is no such file")
    logs = [file] if file.suffix == ".log" else waiting_logs(file)
    if not logs:
        console().print(f"{file} has no log", soft_wrap=True, markup=False, highlight=False)
    for log in logs:
        _show(log, contents(log))


def _show(log: Path, told: dict[str, Any]) -> None:
    table = Table("dataset", box=None, pad_edge=False, title=str(log), title_justify="left")
    for heading in ("writes", "rows", "bytes", "overwritten"):
        table.add_column(heading, justify="right")
    for dataset in told["datasets"]:
        amounts = (decimal(dataset[name]) for name in ("bytes", "overlapping"))
        numbers = (f"{dataset[name]:,}" for name in ("writes", "rows"))
        table.add_row(dataset["name"], *numbers, *amounts)
    console().print(table)
    data = f"{decimal(told['data_bytes'])} of data in {told['data_segments']} segments"
    index = f"{decimal(told['index_bytes'])} of index in {told['index_segments']}"
    console().print(f"{data}, {index}, {told['patterns']} patterns", highlight=False)
    if left := told["size"] - told["whole"]:
        warn(f"{log}: the last {left} bytes are no whole segment")
    if told["damage"]:
        warn(f"{log}: {told['damage']}")
