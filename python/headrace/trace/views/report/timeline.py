"""Both seats over time: a lane for each process, or a map of heat when there are many."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from headrace import units
from headrace.trace.views.report import bins, drawing

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from headrace.trace.model.process import Numbers
    from headrace.trace.model.seats import Seat

BINS: Final = 1000
LANES: Final = 12  # more processes are a map of heat
_MAP_BINS: Final = 240
_MAP_ROWS: Final = 64
_HALF: Final = 40.0  # height of a lane's halves
_BILLION: Final = 1e9
_MEASURES: Final = {"time": "time waited", "bytes": "bytes", "number": "calls and requests"}
_READ_AND_WRITE: Final = 2  # kinds of requests below it move bytes

Amounts = dict[str, "NDArray[np.float64]"]


@dataclass
class Clock:
    """From the first call to the end of the last, in nanoseconds of all processes."""

    begin: int
    end: int

    @property
    def span(self) -> int:
        """At least one, so that it can be divided by."""
        return max(self.end - self.begin, 1)


@dataclass
class _Lane:
    name: str
    calls: Amounts
    requests: Amounts


def clock(seats: Sequence[Seat]) -> Clock | None:
    """None when nothing was recorded."""
    begins, ends = [], []
    for seat in seats:
        for rows in (seat.calls, seat.requests):
            if len(rows["begin"]):
                begins.append(int(rows["begin"].min()) + seat.process.clock_offset)
                ends.append(
                    int((rows["begin"] + rows["duration"]).max()) + seat.process.clock_offset
                )
    return Clock(min(begins), max(ends)) if begins else None


def timeline(seats: Sequence[Seat], names: Sequence[str]) -> dict[str, Any] | None:
    """What the template draws; None when nothing was recorded."""
    time = clock(seats)
    if time is None:
        return None
    many = len(seats) > LANES
    count = _MAP_BINS if many else BINS
    lanes = [_lane(seat, name, time, count) for seat, name in zip(seats, names, strict=True)]
    if many:
        lanes = _merged(lanes)
    seconds = time.span / _BILLION
    measures = [_measure(name, lanes, seconds / count, len(seats)) for name in _MEASURES]
    drawn = _heat(lanes, measures) if many else _steps(lanes, measures)
    data: dict[str, Any] = {"seconds": seconds, "bins": count, "lanes": []}
    if not many:
        data["lanes"] = [_data(lane) for lane in lanes]
    return {
        "many": many,
        "bins": count,
        "height": 2 * _HALF if not many else len(lanes),
        "measures": measures,
        "lanes": drawn,
        "data": data,
        "span": units.seconds(seconds),
        "bin": units.seconds(seconds / count),
        "ticks": [units.seconds(seconds * part / 4) for part in range(5)],
        "table": [_sums(lane) for lane in lanes],
    }


def _lane(seat: Seat, name: str, time: Clock, count: int) -> _Lane:
    moved = np.where(seat.requests["kind"] < _READ_AND_WRITE, seat.requests["length"], 0)
    waited = np.where(seat.top, seat.calls["duration"], 0)
    scale = time, seat.process.clock_offset, count
    return _Lane(
        name,
        _amounts(seat.calls, waited, seat.calls["bytes"], scale),
        _amounts(seat.requests, seat.requests["duration"], moved, scale),
    )


def _amounts(
    rows: Numbers,
    waited: NDArray[np.int64],
    moved: NDArray[np.int64],
    scale: tuple[Clock, int, int],
) -> Amounts:
    time, offset, count = scale
    begin = (rows["begin"] + (offset - time.begin)).astype(np.float64) * (count / time.span)
    end = begin + rows["duration"] * (count / time.span)
    return {
        "time": bins.spread(begin, end, waited / _BILLION, count),
        "bytes": bins.spread(begin, end, moved.astype(np.float64), count),
        "number": bins.at_begin(begin, np.ones(len(begin)), count),
    }


def _merged(lanes: Sequence[_Lane]) -> list[_Lane]:
    """Neighbours together, so that there are not too many rows."""
    each = -(-len(lanes) // _MAP_ROWS)
    found = []
    for first in range(0, len(lanes), each):
        part = lanes[first : first + each]
        name = part[0].name if len(part) == 1 else f"{part[0].name} to {part[-1].name}"
        sums = [
            {measure: sum((getattr(lane, seat)[measure] for lane in part), np.zeros(_MAP_BINS))
             for measure in _MEASURES}
            for seat in ("calls", "requests")
        ]  # fmt: skip
        found.append(_Lane(name, sums[0], sums[1]))
    return found


def _measure(name: str, lanes: Sequence[_Lane], bin_: float, processes: int) -> dict[str, Any]:
    """With what the full height of a lane, or the strongest colour, stands for."""
    most = max(
        (float(each[name].max()) for lane in lanes for each in (lane.calls, lane.requests)),
        default=0.0,
    )
    if name == "time" and processes <= LANES:
        most = max(bin_, most)
    text = {"time": units.seconds, "bytes": units.size, "number": units.count}[name](most)
    full = f"{text} within {units.seconds(bin_)}"
    if name == "time" and most <= bin_ * (1 + 1e-6):
        full = "all of the time"
    return {"name": name, "label": _MEASURES[name], "most": most, "full": full}


def _steps(lanes: Sequence[_Lane], measures: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    return [
        {
            "name": lane.name,
            "paths": [
                {
                    "measure": each["name"],
                    "calls": drawing.steps(_scaled(lane.calls, each), _HALF, -1),
                    "requests": drawing.steps(_scaled(lane.requests, each), _HALF, 1),
                }
                for each in measures
            ],
        }
        for lane in lanes
    ]


def _scaled(amounts: Amounts, measure: dict[str, Any]) -> NDArray[np.float64]:
    """From 0 to 1; of time as it is, of others by the root, so that small amounts are seen."""
    part = amounts[measure["name"]] / (measure["most"] or 1)
    return np.minimum(part, 1) if measure["name"] == "time" else np.sqrt(part)


def _heat(lanes: Sequence[_Lane], measures: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """One for each seat."""
    return [
        {
            "name": name,
            "paths": [
                {
                    "measure": each["name"],
                    "levels": drawing.levels(
                        np.stack([_scaled(getattr(lane, seat), each) for lane in lanes])
                    ),
                }
                for each in measures
            ],
        }
        for seat, name in (("calls", "calls of the program"), ("requests", "at the storage"))
    ]


def _data(lane: _Lane) -> dict[str, Any]:
    def rounded(amounts: Amounts) -> dict[str, list[float]]:
        return {
            "time": [float(f"{value:.3g}") for value in amounts["time"]],
            "bytes": [round(value) for value in amounts["bytes"]],
            "number": [round(value) for value in amounts["number"]],
        }

    return {
        "name": lane.name,
        "calls": rounded(lane.calls),
        "requests": rounded(lane.requests),
    }


def _sums(lane: _Lane) -> list[str]:
    """For who cannot see the lanes."""
    cells = [lane.name]
    for amounts in (lane.calls, lane.requests):
        cells += [
            units.seconds(float(amounts["time"].sum())),
            units.size(float(amounts["bytes"].sum())),
            units.count(float(amounts["number"].sum())),
        ]
    return cells
