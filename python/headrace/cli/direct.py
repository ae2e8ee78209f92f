"""Commands that start without Typer: those of `options.OF_COMMAND`."""

import importlib
import sys
from typing import Final

from headrace.cli import options
from headrace.cli.messages import fail
from headrace.errors import HeadraceError

_MODULES: Final = {
    "run": "headrace.cli.run",
    "trace": "headrace.cli.trace.record",
    "env": "headrace.cli.env",
}


def carry_out(arguments: list[str]) -> None:
    """Ends with the command's status; returns where the words are for Typer to read."""
    command, *words = arguments or [""]
    if command not in options.OF_COMMAND:
        return
    if command == "trace":
        if words[:1] == ["run"]:
            del words[0]
        elif not words or not words[0].startswith("-"):
            return  # perhaps a subcommand
    given = options.read(command, words)
    if given is None:
        return
    module = importlib.import_module(_MODULES[command])
    try:
        module.run(**given)
    except HeadraceError as error:
        fail(str(error))
    sys.exit()
