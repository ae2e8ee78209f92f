"""`headrace report`: a trace as a page for a browser."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from headrace.cli.output import console, reports_errors
from headrace.cli.trace import TraceArgument, read


@reports_errors
def report(
    trace: TraceArgument,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="The page; TRACE.html without it.")
    ] = None,
) -> None:
    """Make one HTML page of a trace, which needs no network."""
    loaded = read(trace)
    from headrace.trace.report import write  # noqa: PLC0415, needs what a base has not

    path = output or Path(trace.name).with_suffix(".html")
    write(loaded, path)
    console().print(str(path), soft_wrap=True, markup=False, highlight=False)
