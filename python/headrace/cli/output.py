"""What subcommands share: consoles, messages, the error edge, the options for a stack."""

import functools
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, ParamSpec

import typer
from rich.console import Console

from headrace.cli import options
from headrace.cli.messages import fail, note, usage_error, warn
from headrace.errors import HeadraceError

__all__ = [
    "CommandArgument",
    "ConfigOption",
    "StackOption",
    "console",
    "error_console",
    "fail",
    "note",
    "reports_errors",
    "typer_option",
    "usage_error",
    "warn",
]


def typer_option(option: options.Option) -> Any:
    """An option as Typer declares it."""
    return typer.Option(*option.names, metavar=option.metavar, help=option.help, show_default=False)


StackOption = Annotated[str | None, typer_option(options.STACK)]
ConfigOption = Annotated[Path | None, typer_option(options.CONFIG)]
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


def reports_errors(command: Callable[_P, None]) -> Callable[_P, None]:
    """Turns a HeadraceError into its message and exit status 2."""

    @functools.wraps(command)
    def wrapper(*args: _P.args, **kwargs: _P.kwargs) -> None:
        try:
            command(*args, **kwargs)
        except HeadraceError as error:
            fail(str(error))

    return wrapper
