"""The HTML report: one file, readable without network and without JavaScript."""

import importlib.util
from collections.abc import Mapping, Sequence
from typing import Any

from headrace.bench.summary import Row
from headrace.errors import HeadraceError


class ReportError(HeadraceError):
    """A report that cannot be made."""


def missing() -> str:
    """What has to be installed before a report can be made; empty when nothing has."""
    absent = [name for name in ("matplotlib", "jinja2") if importlib.util.find_spec(name) is None]
    if not absent:
        return ""
    return f"a report needs {' and '.join(absent)}: pip install 'headrace[bench]'"


def render(about: Mapping[str, Any], rows: Sequence[Row]) -> str:
    """The whole page; ReportError when it cannot be made, as without a package that it needs."""
    if absent := missing():
        raise ReportError(absent)
    from headrace.bench.report import page  # noqa: PLC0415, needs the optional packages

    try:
        return page.render(about, rows)
    except Exception as error:  # a figure that fails must not take the tables with it
        raise ReportError(f"no HTML: {type(error).__name__}: {error}") from error
