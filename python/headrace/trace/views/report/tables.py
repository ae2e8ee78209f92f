"""Tables of the report: objects, metadata, lines of the program, and processes."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from headrace import units
from headrace.trace.analysis import collective
from headrace.trace.model.process import line_of
from headrace.trace.model.seats import READ, WRITE
from headrace.trace.views.report import kinds, words

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from headrace.trace.analysis.summary import Use
    from headrace.trace.model.seats import Seat

OBJECTS: Final = 500  # rows; what is beyond them is summed up
LINES: Final = 50
PROCESSES: Final = 256
_BILLION: Final = 1e9

Cell = dict[str, Any]


def cell(value: float | None, text: Callable[[float], str]) -> Cell:
    """A number with what it is sorted by; of None there is a dash, behind all numbers."""
    if value is None:
        return {"sort": "-1", "text": units.DASH}
    return {"sort": f"{value:.9g}", "text": text(value)}


def objects(uses: Sequence[Use], links: Mapping[tuple[str, str], str]) -> list[dict[str, Any]]:
    """A row for each of the dearest."""
    return [
        {
            "name": words.shortened(use.path) or "calls on no object",
            "file": words.shortened(use.file),
            "kind": use.kind,
            "link": links.get((use.file, use.path), ""),
            "numbers": [
                cell(use.seconds, units.seconds),
                cell(use.calls, units.count),
                cell(use.read + use.written, units.size),
                cell(use.stored_read + use.stored_written, units.size),
                cell(amplification(use), words.times),
            ],
            "line": words.shortened(use.lines.most_common(1)[0][0]) if use.lines else "",
        }
        for use in uses[:OBJECTS]
    ]


def amplification(use: Use) -> float | None:
    """Bytes of values at the storage over those that the program moved; None but of datasets.

    Of others a few bytes are asked for, and HDF5's metadata is moved.
    """
    moved = use.read + use.written
    return use.stored_values / moved if moved and use.kind == "dataset" else None


def rest(uses: Sequence[Use]) -> str:
    """What the table of objects leaves out."""
    left = uses[OBJECTS:]
    if not left:
        return ""
    spent = units.seconds(sum(each.seconds for each in left))
    return f"{words.number_of(len(left), 'more object')} took {spent} together."


def metadata(seats: Sequence[Seat]) -> list[dict[str, Any]]:
    """All calls but the transfers of datasets, by what they do."""
    rows = [
        {
            "group": kind,
            "name": name,
            "numbers": [
                cell(calls, units.count),
                cell(spent, units.seconds),
                cell(spent / calls if calls else 0, units.seconds),
                cell(failed, units.count),
            ],
            "seconds": spent,
        }
        for (kind, name), (calls, spent, failed) in kinds.sums(seats).items()
        if name not in {READ, WRITE}
    ]
    return sorted(
        rows, key=lambda row: (row["group"] == kinds.OTHER, row["group"], -row["seconds"])
    )


def lines(seats: Sequence[Seat]) -> tuple[list[dict[str, Any]], str]:
    """Of the program, by the time of the calls that they made, and what is left out."""
    sums: dict[str, list[float]] = defaultdict(lambda: [0.0, 0, 0])
    for seat in seats:
        ids, inverse = np.unique(seat.calls["line"], return_inverse=True)
        spent = np.bincount(inverse, seat.own, len(ids)).tolist()
        counted = np.bincount(inverse, seat.calls["count"], len(ids)).tolist()
        moved = np.bincount(inverse, seat.calls["bytes"], len(ids)).tolist()
        for id_, *values in zip(ids.tolist(), spent, counted, moved, strict=True):
            fact = seat.process.lines.get(id_)
            name = "" if fact is None else line_of(fact)
            sums[name] = [a + b for a, b in zip(sums[name], values, strict=True)]
    if set(sums) <= {""}:
        return [], ""
    rows = sorted(sums.items(), key=lambda item: -item[1][0])
    shown = [
        {
            "name": words.shortened(name) or "not known",
            "numbers": [
                cell(values[0], units.seconds),
                cell(values[1], units.count),
                cell(values[2], units.size),
            ],
        }
        for name, values in rows[:LINES]
    ]
    left = rows[LINES:]
    spent_left = units.seconds(sum(values[0] for _, values in left))
    return shown, f"{words.number_of(len(left), 'more line')}: {spent_left}." if left else ""


def storages(seats: Sequence[Seat]) -> tuple[list[dict[str, Any]], str]:
    """The files that the lowest layer has read and written, and what is left out.

    Nothing where they are those that the program knows: there are others below `stripe`, say.
    """
    sums: dict[str, list[float]] = defaultdict(lambda: [0.0, 0, 0, 0, 0])
    known = {str(each["name"]) for seat in seats for each in seat.process.files.values()}
    for seat in seats:
        raw = seat.requests
        ids, places = np.unique(raw["file"], return_inverse=True)
        moved = (np.where(raw["kind"] == kind, raw["length"], 0) for kind in (0, 1))
        columns = [np.bincount(places, each, len(ids)).tolist()
                   for each in (raw["duration"] / _BILLION, raw["count"], *moved)]  # fmt: skip
        for id_, *made in zip(ids.tolist(), *columns, strict=True):
            name = seat.storages[id_]
            sums[name] = [a + b for a, b in zip(sums[name], (*made, 1), strict=True)]
    if sums.keys() <= known:
        return [], ""
    rows = sorted(sums.items(), key=lambda item: -item[1][0])
    kinds = (units.seconds, units.count, units.size, units.size, units.count)
    shown = [
        {
            "name": words.shortened(name),
            "numbers": [cell(value, text) for value, text in zip(values, kinds, strict=True)],
        }
        for name, values in rows[:OBJECTS]
    ]
    left = rows[OBJECTS:]
    return shown, f"{words.number_of(len(left), 'more file')} took less time." if left else ""


def names(seats: Sequence[Seat]) -> list[str]:
    """Of the processes: ranks, else process ids, with the host where there are several."""
    hosts = {each.process.about.get("host", "") for each in seats}
    found = []
    for seat in seats:
        about = seat.process.about
        name = (
            f"rank {seat.process.rank}"
            if seat.process.rank >= 0
            else f"process {about.get('pid', '')}"
        )
        found.append(
            f"{name} on {words.shortened(str(about.get('host', '')))}" if len(hosts) > 1 else name
        )
    return found


def broken(seats: Sequence[Seat]) -> list[dict[str, Any]]:
    """A row for each dataset and reason of collective transfers that HDF5 made otherwise."""
    return [
        {
            "name": words.shortened(each.path),
            "why": each.why,
            "numbers": [cell(each.calls, units.count), cell(each.bytes, units.size)],
        }
        for each in collective.broken(seats)[:OBJECTS]
    ]


def processes(seats: Sequence[Seat]) -> dict[str, Any]:
    """A row for each, and how evenly they waited."""
    waited = [float(seat.own.sum()) for seat in seats]
    rows: list[dict[str, Any]] = []
    for seat, name, spent in zip(seats, names(seats), waited, strict=True):
        moves = seat.requests["kind"] < 2
        asked = int((seat.calls["collective"][seat.transfers] != 0).sum())
        together = int((seat.requests["collective"][moves] != 0).sum())
        rows.append(
            {
                "name": name,
                "numbers": [
                    cell(spent, units.seconds),
                    cell(len(np.unique(seat.calls["number"])), units.count),
                    cell(int(seat.calls["bytes"].sum()), units.size),
                    cell(int(seat.requests["length"][moves].sum()), units.size),
                    cell(asked, units.count),
                    cell(len(seat.transfers) - asked, units.count),
                    cell(together, units.count),
                    cell(int(moves.sum()) - together, units.count),
                ],
                "seconds": spent,
            }
        )
    rows.sort(key=lambda row: -row["seconds"])
    return {
        "rows": rows[:PROCESSES],
        "left": len(rows[PROCESSES:]),
        "text": _balance(rows, waited) if len(rows) > 1 else "",
    }


def _balance(rows: Sequence[dict[str, Any]], waited: Sequence[float]) -> str:
    mean = sum(waited) / len(waited)
    if not mean:
        return ""
    most, least = rows[0], rows[-1]
    return (
        f"{most['name']} waited longest, {units.seconds(most['seconds'])}: "
        f"{units.times(most['seconds'] / mean)} the mean of {units.seconds(mean)}; "
        f"{least['name']} waited {units.seconds(least['seconds'])}."
    )
