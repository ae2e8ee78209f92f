"""What ranks do to each other's elements with no flush between."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from headrace import units
from headrace.trace.analysis.hazards import find, in_words, sentence
from headrace.trace.views.report import words

if TYPE_CHECKING:
    from headrace.trace.analysis.hazards import Hazard
    from headrace.trace.model.reader import Trace

_MOST: Final = 200  # rows


def section(trace: Trace) -> dict[str, Any]:
    """Verdicts and a table; empty where no file was opened by ranks together."""
    found = find(trace)
    if not found.files:
        return {}
    rows = sorted(found, key=lambda each: -each.cases)
    more = len(rows) - _MOST
    return {
        "verdicts": in_words(found),
        "rows": [_row(each) for each in rows[:_MOST]],
        "more": f"{units.count(more)} more rows have fewer cases." if more > 0 else "",
    }


def _row(hazard: Hazard) -> dict[str, Any]:
    unsafe = [name for name in ("mpi_staging", "mpi_logs") if getattr(hazard, name)]
    path, file = words.shortened(hazard.path), words.shortened(hazard.file)
    return {
        "path": path,
        "file": file,
        "kind": hazard.kind if hazard.certain else f"{hazard.kind}, perhaps",
        "case": sentence(replace(hazard, path=path, file=file)),
        "cases": {"sort": hazard.cases, "text": units.count(hazard.cases)},
        "unsafe": ", ".join(unsafe) or "neither",
    }
