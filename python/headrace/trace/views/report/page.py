"""From a trace to the page."""

from __future__ import annotations

import base64
import contextlib
import datetime
import hashlib
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from markupsafe import Markup

from headrace import units, webpage
from headrace.trace.analysis import summary
from headrace.trace.analysis.advice import advise
from headrace.trace.views.report import datasets, findings, hazards, tables, timeline, words
from headrace.trace.views.terminal import UNKNOWN_LINES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from headrace.trace.analysis.advice import Advice
    from headrace.trace.analysis.summary import Use
    from headrace.trace.model.reader import Trace

_TEMPLATE: Final = Path(__file__).with_name("template.html")
_STYLE: Final = Path(__file__).with_name("style.css")
_SCRIPT: Final = Path(__file__).with_name("script.js")
_BILLION: Final = 1e9
_NAMED: Final = 20  # damaged files


def render(trace: Trace, advice: Sequence[Advice] | None = None) -> str:
    """The whole page; `advice` in place of what is found from the trace alone."""
    template = webpage.template(_TEMPLATE)
    script = _SCRIPT.read_text(encoding="utf-8")
    seats = trace.seats
    uses = summary.uses(trace)
    dear = _dearest(uses)
    links = {(use.file, use.path): f"#dataset-{i}" for i, use in enumerate(dear, 1)}
    owned = datasets.Owned(seats)
    time = timeline.timeline(seats, tables.names(seats))
    lines, more_lines = tables.lines(seats)
    stored, more_stored = tables.storages(seats)
    damaged = [f"{p.source.name}: {p.damage}" for p in trace.processes if p.damage]
    damaged += [each.removeprefix(f"{trace.path}/") for each in trace.unreadable]
    return template.render(
        title=words.shortened(trace.path.name),
        about=_about(trace),
        findings=list(findings.sentences(seats, summary.totals(trace, uses), uses, links)),
        advice=advise(trace, uses) if advice is None else advice,
        shortened=words.shortened,
        marked=words.marked,
        damaged=list(map(words.shortened, damaged[:_NAMED])),
        more_damaged=max(len(damaged) - _NAMED, 0),
        time=time,
        objects=tables.objects(uses, links),
        more_objects=tables.rest(uses),
        datasets=[datasets.section(use, owned, i) for i, use in enumerate(dear, 1)],
        more_datasets=sum(use.kind == "dataset" for use in uses) - len(dear),
        hazards=hazards.section(trace),
        metadata=tables.metadata(seats),
        lines=lines,
        more_lines=more_lines,
        unknown_lines=f"{UNKNOWN_LINES[0].upper()}{UNKNOWN_LINES[1:]}.",
        storages=stored,
        more_storages=more_stored,
        processes=tables.processes(seats),
        broken=tables.broken(seats),
        style=webpage.style(_STYLE),
        data=embedded(time["data"] if time else {}),
        script=Markup(script),  # noqa: S704, it is this package's own
        script_hash=base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
        units=units,
        number_of=words.number_of,
    )


def embedded(data: Any) -> Markup:
    """JSON that ends no element, whatever text it holds."""
    text = json.dumps(data, separators=(",", ":"), allow_nan=False)
    for sign in "<>&":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return Markup(text)  # noqa: S704, nothing is left in it that HTML knows


def _dearest(uses: Sequence[Use]) -> list[Use]:
    """Datasets that have a section."""
    return [use for use in uses if use.kind == "dataset"][: datasets.MOST]


def _about(trace: Trace) -> list[str]:
    """When, where and what it was."""
    first = min(trace.processes, key=lambda each: each.about.get("time", 0), default=None)
    if first is None:
        return []
    about = first.about
    found = []
    with contextlib.suppress(ValueError, OverflowError, OSError):
        begun = datetime.datetime.fromtimestamp(int(about.get("time", 0)) / _BILLION, datetime.UTC)
        found.append(begun.strftime("%Y-%m-%d %H:%M:%S UTC"))
    command = " ".join(str(word) for word in about.get("command", ()))
    if about.get("host"):
        found.append(f"on {words.shortened(str(about['host']))}")
    if about.get("hdf5"):
        found.append(f"HDF5 {words.shortened(str(about['hdf5']))}")
    if command:
        found.append(words.shortened(command))
    return found
