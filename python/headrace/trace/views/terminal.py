"""Where a program's time in HDF5 went: a dozen lines for a terminal."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Final

from headrace.trace.analysis.advice import advise
from headrace.trace.analysis.hazards import find, in_words
from headrace.trace.analysis.summary import reason, totals, uses
from headrace.units import count, seconds, size

if TYPE_CHECKING:
    from collections.abc import Iterator

    from headrace.trace.analysis.summary import Use
    from headrace.trace.model.reader import Trace

_DEAREST: Final = 5
_INDENT: Final = " " * 10  # of what follows of a line: times are before it
UNKNOWN_LINES: Final = (
    "which lines called is not known: those of a program in C, C++ or Fortran are recorded with "
    "`headrace trace --stack 'trace(callers=true)'`, where it was built with -g"
)


def wrapped(trace: Trace, width: int) -> Iterator[str]:
    """The same lines, none wider than a terminal but where a word is."""
    for line in lines(trace):
        yield from textwrap.wrap(
            line, max(width, 2 * len(_INDENT)), subsequent_indent=_INDENT,
            break_long_words=False, break_on_hyphens=False,
        )  # fmt: skip


def lines(trace: Trace) -> Iterator[str]:
    """What is printed when a program has ended."""
    found = uses(trace)
    sums = totals(trace, found)
    who = "" if sums.processes == 1 else f"{sums.processes} processes, "
    files = "1 file" if sums.files == 1 else f"{count(sums.files)} files"
    yield (
        f"{who}{files}: {seconds(sums.inside)} in {count(sums.calls)} calls of HDF5, "
        f"in the {seconds(sums.span)} from the first to the last"
    )
    yield (
        f"the program read {size(sums.read)} and wrote {size(sums.written)}; "
        f"{count(sums.requests)} requests read {size(sums.stored_read)} "
        f"and wrote {size(sums.stored_written)}"
    )
    several = len({each.file for each in found}) > 1
    for use in found[:_DEAREST]:
        if use.seconds > 0:
            yield f"{seconds(use.seconds):>8}  {_name(use, several=several)}: {reason(use)}"
    if sums.calls and not any(use.lines for use in found):
        yield UNKNOWN_LINES
    for advice in advise(trace, found, most=3):
        yield f"advice for {advice}"
    yield from _hazards(trace)
    for process in trace.processes:
        if process.damage:
            yield f"{process.source}: {process.damage}; the rest of it is missing"
    for each in trace.unreadable:
        yield f"{each}; what this process did is missing"


def _hazards(trace: Trace) -> Iterator[str]:
    """Of files that ranks opened together."""
    found = find(trace)
    if found.files:
        yield from in_words(found)


def _name(use: Use, *, several: bool) -> str:
    path = use.path or "calls on no object"
    return f"{use.file}:{path}" if several and use.file else path
