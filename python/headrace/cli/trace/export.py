"""`headrace trace export`: traces for other tools."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Annotated, Final

import typer

from headrace.cli.output import console, reports_errors
from headrace.cli.trace.commands import TraceArgument, app
from headrace.cli.trace.record import read
from headrace.errors import FileError

__all__ = ["app"]

_ENDINGS: Final = {
    "darshan": ".darshan",
    "perfetto": ".perfetto.json",
    "parquet": ".parquet",
    "callgrind": ".callgrind.out",
    "model": ".ledgers",
}


@app.command("export")
@reports_errors
def export(  # noqa: PLR0913, PLR0917, each is an option
    trace: TraceArgument,
    darshan: Annotated[bool, typer.Option("--darshan", help="A log of Darshan.")] = False,
    perfetto: Annotated[
        bool, typer.Option("--perfetto", help="For ui.perfetto.dev and Chrome's tracing.")
    ] = False,
    parquet: Annotated[
        bool, typer.Option("--parquet", help="A folder of tables for pandas, polars, DuckDB.")
    ] = False,
    callgrind: Annotated[
        bool, typer.Option("--callgrind", help="Costs by line, for KCachegrind.")
    ] = False,
    model: Annotated[
        bool, typer.Option("--model", help="A folder of ledgers, for headrace-model.")
    ] = False,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Where to; TRACE.ENDING without it.")
    ] = None,
) -> None:
    """Write a trace as other tools read it; several kinds at once, if asked for."""
    wanted = {
        "darshan": darshan, "perfetto": perfetto, "parquet": parquet, "callgrind": callgrind,
        "model": model,
    }  # fmt: skip
    chosen = [name for name, is_wanted in wanted.items() if is_wanted]
    if not chosen:
        raise FileError(f"{trace}: say what to export to: --{', --'.join(wanted)}")
    if output is not None and len(chosen) > 1:
        raise FileError(f"{output}: one place cannot take {' and '.join(chosen)}")
    loaded = read(trace)
    for name in chosen:
        path = output or Path(trace.name).with_suffix(_ENDINGS[name])
        importlib.import_module(f"headrace.trace.views.export.{name}").write(loaded, path)
        console().print(str(path), soft_wrap=True, markup=False, highlight=False)
