"""What a program did with each of its objects, and with all of them."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from headrace.trace.model.process import line_of
from headrace.units import count, size

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from headrace.trace.model.reader import Trace
    from headrace.trace.model.seats import Seat

_BILLION: Final = 1e9
_SMALL: Final = 16 << 10  # bytes a call
_MANY: Final = 100  # calls
_AMPLIFIED: Final = 2.0
_MUCH: Final = 64 << 10  # bytes: what metadata of few objects is
_READS: Final = ("dataset_read", "attr_read")
_WRITES: Final = ("dataset_write", "attr_write")
# Of attributes the objects that have them are told, which were not opened for that.
_OPENS: Final = ("dataset_open", "group_open", "object_open")
_READ, _WRITE = 0, 1  # requests
_VALUES: Final = (3, 4, 99)  # H5FD_MEM_DRAW, H5FD_MEM_GHEAP, and what a driver is not told


@dataclass
class Use:
    """What was done with one object, by all processes: calls of the program, and what they became.

    Times are in seconds, and without those of calls that were made within others.
    """

    file: str = ""
    path: str = ""
    kind: str = ""
    calls: int = 0
    opened: int = 0
    seconds: float = 0.0
    read: int = 0  # bytes that the program has asked for
    written: int = 0
    stored_read: int = 0  # bytes that reached the storage within its calls
    stored_written: int = 0
    stored_values: int = 0  # of both, those that are no metadata
    requests: int = 0
    lines: Counter[str] = field(default_factory=Counter)  # seconds by the line that has called


@dataclass
class Totals:
    """The same of a whole trace; `span`: from the first call to the end of the last."""

    processes: int = 0
    files: int = 0
    span: float = 0.0
    inside: float = 0.0  # seconds that the program was in HDF5, of all processes
    calls: int = 0
    read: int = 0
    written: int = 0
    requests: int = 0
    stored_read: int = 0
    stored_written: int = 0


def uses(trace: Trace) -> list[Use]:
    """Of each object by its file and path, the dearest first."""
    found: dict[tuple[str, str], Use] = defaultdict(Use)
    for seat in trace.seats:
        _add(found, seat)
    return sorted(found.values(), key=lambda each: -each.seconds)


def _add(found: dict[tuple[str, str], Use], seat: Seat) -> None:
    process, raw = seat.process, seat.calls
    unique, inverse = np.unique(raw["object"], return_inverse=True)
    width = len(unique)
    reads, writes, opens = (seat.are(names) for names in (_READS, _WRITES, _OPENS))
    moved = raw["bytes"]
    sums = {
        "calls": np.bincount(inverse, raw["count"], width),
        "opened": np.bincount(inverse[opens], raw["count"][opens], width),
        "seconds": np.bincount(inverse, seat.own, width),
        "read": np.bincount(inverse[reads], moved[reads], width),
        "written": np.bincount(inverse[writes], moved[writes], width),
        **_requests_of(seat, inverse, width),
    }
    lines = _lines_of(seat)
    for i, id_ in enumerate(unique.tolist()):
        about = process.objects.get(id_, {})
        file = process.files.get(about.get("file", 0), {}).get("name", "")
        use = found[file, about.get("path", "")]
        use.file, use.path, use.kind = file, about.get("path", ""), about.get("kind", "")
        for name, values in sums.items():
            value = values[i]
            setattr(use, name, getattr(use, name) + type(getattr(use, name))(value))
        for line, spent in lines[id_].items():
            use.lines[line] += spent


def _lines_of(seat: Seat) -> dict[int, Counter[str]]:
    """Seconds by line, of each object."""
    found: dict[int, Counter[str]] = defaultdict(Counter)
    pairs = np.stack([seat.calls["object"], seat.calls["line"]], axis=1)
    unique, inverse = np.unique(pairs, axis=0, return_inverse=True)
    spent = np.bincount(inverse.reshape(-1), seat.own, len(unique))
    known = seat.process.lines
    for (object_, line), value in zip(unique.tolist(), spent.tolist(), strict=True):
        if line in known:
            found[object_][line_of(known[line])] += value
    return found


def _requests_of(seat: Seat, places: NDArray[np.int64], width: int) -> dict[str, NDArray[Any]]:
    """Sums of the requests made in calls on each object; `places`: that of each call."""
    made = seat.owner >= 0
    result = {}
    for name, kind in (("stored_read", _READ), ("stored_written", _WRITE), ("requests", None)):
        rows = made if kind is None else made & (seat.requests["kind"] == kind)
        weights = seat.requests["count" if kind is None else "length"][rows]
        result[name] = np.bincount(places[seat.owner[rows]], weights, width)
    rows = made & (seat.requests["kind"] <= _WRITE) & np.isin(seat.requests["type"], _VALUES)
    lengths = seat.requests["length"][rows]
    result["stored_values"] = np.bincount(places[seat.owner[rows]], lengths, width)
    return result


def totals(trace: Trace, found: Sequence[Use]) -> Totals:
    """Of all processes together; `found`: their uses."""
    sums = Totals(processes=len(trace.processes))
    begin, end = [], []
    names = set()
    for seat in trace.seats:
        process, raw = seat.process, seat.calls
        if len(raw["begin"]):
            begin.append(int(raw["begin"].min()) + process.clock_offset)
            end.append(int((raw["begin"] + raw["duration"]).max()) + process.clock_offset)
        names |= {each["name"] for each in process.files.values()}
        names |= {each["name"] for each in process.storages.values()}
        _, first = np.unique(raw["number"], return_index=True)
        sums.calls += int(raw["count"][first].sum())
        sums.inside += float(seat.own.sum())
        kinds, lengths = seat.requests["kind"], seat.requests["length"]
        sums.requests += int(seat.requests["count"].sum())
        sums.stored_read += int(lengths[kinds == _READ].sum())
        sums.stored_written += int(lengths[kinds == _WRITE].sum())
    sums.read = sum(use.read for use in found)
    sums.written = sum(use.written for use in found)
    sums.files = len(names)
    sums.span = (max(end) - min(begin)) / _BILLION if begin else 0
    return sums


def reason(use: Use) -> str:
    """What stands out of an object's use, and the line that spent most of its time."""
    told = [f"{count(use.calls)} calls"]
    if use.read:
        told.append(f"{size(use.read)} read")
    if use.written:
        told.append(f"{size(use.written)} written")
    if use.read + use.written and use.calls > _MANY and use.read + use.written < use.calls * _SMALL:
        told.append(f"only {size((use.read + use.written) / use.calls)} a call")
    if use.read and use.stored_read > max(_AMPLIFIED * use.read, _MUCH):
        told.append(f"{size(use.stored_read)} read from the storage for it")
    if use.written and use.stored_written > max(_AMPLIFIED * use.written, _MUCH):
        told.append(f"{size(use.stored_written)} written to the storage for it")
    if use.opened > _MANY:
        told.append(f"opened {count(use.opened)} times")
    if use.lines:
        told.append(f"by {_short(use.lines.most_common(1)[0][0])}")
    return ", ".join(told)


def _short(line: str) -> str:
    file, _, number = line.rpartition(":")
    return f"line {number} of {Path(file).name}"
