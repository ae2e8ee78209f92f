"""Messages of the command on standard error, without a library that takes its time to start."""

import os
import sys
from typing import Final, NoReturn

usage_error: Final = 2
_YELLOW: Final = "33"
_BOLD_RED: Final = "1;31"


def fail(message: str, status: int = usage_error) -> NoReturn:
    """One red message, and the end."""
    _say(message, _BOLD_RED)
    raise SystemExit(status)


def warn(message: str) -> None:
    """One yellow line."""
    _say(f"warning: {message}", _YELLOW)


def note(message: str) -> None:
    """One line that is no warning: nothing is wrong but what the user may have expected."""
    _say(f"note: {message}", _YELLOW)


def _say(message: str, style: str) -> None:
    """Never wrapped, so that a caret stays below its mistake."""
    text = f"headrace: {message}"
    environ = os.environ
    colours = not environ.get("NO_COLOR") and environ.get("TERM") != "dumb" and sys.stderr.isatty()
    sys.stderr.write(f"\33[{style}m{text}\33[0m\n" if colours else f"{text}\n")
    sys.stderr.flush()
