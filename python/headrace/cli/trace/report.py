"""`headrace report`: a trace as a page for a browser."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from headrace.cli.output import console, reports_errors
from headrace.cli.trace.commands import TraceArgument
from headrace.cli.trace.record import read
from headrace.errors import FileError

if TYPE_CHECKING:
    from headrace.trace.analysis.advice import Advice
    from headrace.trace.model.reader import Trace


@reports_errors
def report(
    trace: TraceArgument,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="The page; TRACE.html without it.")
    ] = None,
    replays: Annotated[
        bool,
        typer.Option(
            "--replay",
            help="Measure what advice of another stack gains: replay the trace, which tells what "
            "calls were given, natively and under it.",
        ),
    ] = False,
    inputs: Annotated[
        Path | None,
        typer.Option(help="For --replay: the folder of the files that the program has read."),
    ] = None,
) -> None:
    """Make one HTML page of a trace, which needs no network."""
    if inputs is not None and not replays:
        raise FileError("--inputs is for --replay alone")
    loaded = read(trace)
    from headrace.trace.views.report import write  # noqa: PLC0415, needs what a base has not

    path = output or Path(trace.name).with_suffix(".html")
    write(loaded, path, _measured(loaded, inputs) if replays else None)
    console().print(str(path), soft_wrap=True, markup=False, highlight=False)


def _measured(trace: Trace, inputs: Path | None) -> list[Advice]:
    from headrace.trace.analysis.advice import advise  # noqa: PLC0415, needs what a base has not
    from headrace.trace.analysis.summary import uses  # noqa: PLC0415
    from headrace.trace.replay.choices import Choices  # noqa: PLC0415
    from headrace.trace.replay.measured import measured  # noqa: PLC0415

    found = advise(trace, uses(trace))
    return measured(trace.path, found, Choices(inputs=inputs, compute=True))
