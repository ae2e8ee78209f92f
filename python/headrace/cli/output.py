"""What all subcommands share: consoles, the error edge, the options for a stack."""

import functools
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, NoReturn, ParamSpec

import typer
from rich.console import Console

from headrace.errors import HeadraceError

usage_error = 2

StackOption = Annotated[
    str | None,
    typer.Option(
        "--stack",
        "-s",
        metavar="SPEC",
        help="Layers from the application downwards, each with its options if it needs any: "
        "`trace,async(threads=4),log`. Without it the one in FILE, else `async`.",
        show_default=False,
    ),
]
ConfigOption = Annotated[
    Path | None,
    typer.Option(
        "--config",
        "-c",
        metavar="FILE",
        help='TOML file with `stack = "..."`, a table `[settings]` and tables `[layers.NAME]`.',
        show_default=False,
    ),
]
CommandArgument = Annotated[
    list[str],
    typer.Argument(metavar="COMMAND...", help="The program and its arguments."),
]

_P = ParamSpec("_P")


def console() -> Console:
    """Standard output. Made anew each time: a test or a caller may have replaced the stream."""
    return Console()


def error_console() -> Console:
    """Standard error; never wraps, so that a caret stays below its mistake."""
    return Console(stderr=True, soft_wrap=True, highlight=False)


def fail(message: str, status: int = usage_error) -> NoReturn:
    """One red message, and the end."""
    error_console().print(f"headrace: {message}", style="bold red", markup=False)
    raise typer.Exit(status)


def warn(message: str) -> None:
    """One yellow line."""
    error_console().print(f"headrace: warning: {message}", style="yellow", markup=False)


def note(message: str) -> None:
    """One line that is no warning: nothing is wrong but what the user may have expected."""
    error_console().print(f"headrace: note: {message}", style="yellow", markup=False)


def reports_errors(command: Callable[_P, None]) -> Callable[_P, None]:
    """Turns a HeadraceError into its message and exit status 2."""

    @functools.wraps(command)
    def wrapper(*args: _P.args, **kwargs: _P.kwargs) -> None:
        try:
            command(*args, **kwargs)
        except HeadraceError as error:
            fail(str(error))

    return wrapper
