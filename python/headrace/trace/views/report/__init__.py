"""The HTML report of a trace: one file that needs no network and holds all that it shows."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import TYPE_CHECKING

from headrace.errors import HeadraceError
from headrace.trace.views.output import private, replacing

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence

    from headrace.trace.analysis.advice import Advice
    from headrace.trace.model.reader import Trace

__all__ = ["ReportError", "missing", "render", "write"]


class ReportError(HeadraceError):
    """A report that cannot be made."""


def missing() -> str:
    """What has to be installed before a report can be made; empty when nothing has."""
    if importlib.util.find_spec("jinja2") is None:
        return "a report needs jinja2: pip install 'headrace[trace]'"
    return ""


def render(trace: Trace, advice: Sequence[Advice] | None = None) -> str:
    """The whole page; ReportError without the packages that it needs.

    `advice` is told in place of what is found from the trace alone.
    """
    if absent := missing():
        raise ReportError(absent)
    from headrace.trace.views.report import page  # noqa: PLC0415, needs the optional packages

    return page.render(trace, advice)


def write(
    trace: Trace, path: str | os.PathLike[str], advice: Sequence[Advice] | None = None
) -> None:
    """Renders into a file that is either whole or not there; FileError says why it is not."""
    text = render(trace, advice)
    with (
        replacing(Path(path)) as temporary,
        open(temporary, "w", encoding="utf-8", newline="", opener=private) as out,
    ):
        out.write(text)
