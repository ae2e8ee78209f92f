"""The HTML report of a trace: one file that needs no network and holds all that it shows."""

from __future__ import annotations

import contextlib
import importlib.util
import os
from pathlib import Path
from typing import TYPE_CHECKING

from headrace.errors import FileError, HeadraceError

if TYPE_CHECKING:
    from headrace.trace.reader import Trace

__all__ = ["ReportError", "missing", "render", "write"]


class ReportError(HeadraceError):
    """A report that cannot be made."""


def missing() -> str:
    """What has to be installed before a report can be made; empty when nothing has."""
    if importlib.util.find_spec("jinja2") is None:
        return "a report needs jinja2: pip install 'headrace[trace]'"
    return ""


def render(trace: Trace) -> str:
    """The whole page; ReportError without the packages that it needs."""
    if absent := missing():
        raise ReportError(absent)
    from headrace.trace.report import page  # noqa: PLC0415, needs the optional packages

    return page.render(trace)


def write(trace: Trace, path: str | os.PathLike[str]) -> None:
    """Renders into a file that is either whole or not there; FileError says why it is not."""
    file = Path(path)
    text = render(trace)
    partial = file.with_name(f"{file.name}.{os.getpid()}.partial")
    try:
        partial.write_text(text, encoding="utf-8", newline="")
        partial.replace(file)
    except OSError as error:
        with contextlib.suppress(OSError):
            partial.unlink()
        raise FileError(f"{file} cannot be written: {error.strerror}") from None
