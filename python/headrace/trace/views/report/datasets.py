"""The sections of the dearest datasets."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from headrace import units
from headrace.trace.analysis import grid as accesses
from headrace.trace.model.seats import READ, WRITE
from headrace.trace.views.report import drawing, words

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from headrace.trace.analysis.grid import Grid
    from headrace.trace.analysis.summary import Use
    from headrace.trace.model.process import Fact
    from headrace.trace.model.seats import Seat

MOST: Final = 20
_LINES: Final = 10
_BARS: Final = 160.0  # width of the longest bar
_BAR: Final = 18


class Owned:
    """What each process has of one dataset: the ids that it knew it by."""

    def __init__(self, seats: Sequence[Seat]) -> None:
        """Looks up all names."""
        self._seats = seats
        self._ids: list[dict[tuple[str, str], list[int]]] = [_by_name(seat) for seat in seats]

    def of(self, use: Use) -> Iterator[tuple[Seat, NDArray[np.int64]]]:
        """Processes that knew it."""
        for seat, ids in zip(self._seats, self._ids, strict=True):
            if mine := ids.get((use.file, use.path)):
                yield seat, np.array(mine, np.int64)


def _by_name(seat: Seat) -> dict[tuple[str, str], list[int]]:
    found: dict[tuple[str, str], list[int]] = {}
    files = seat.process.files
    for id_, each in seat.process.objects.items():
        file = str(files.get(each["file"], {}).get("name", ""))
        found.setdefault((file, each["path"]), []).append(id_)
    return found


def section(use: Use, owned: Owned, number: int) -> dict[str, Any]:
    """What the template shows of a dataset."""
    mine = list(owned.of(use))
    facts = [
        seat.process.datasets[id_]
        for seat, ids in mine
        for id_ in ids.tolist()
        if id_ in seat.process.datasets
    ]
    fact = facts[-1] if facts else None
    return {
        "id": f"dataset-{number}",
        "name": words.shortened(use.path) or "without a name",
        "file": words.shortened(use.file),
        "use": use,
        "facts": [] if fact is None else _facts(fact),
        "maps": [each for name, past in ((READ, "read"), (WRITE, "written"))
                 if (each := _map(mine, name, past, fact))],
        "sizes": _sizes(mine),
        "lines": [(words.shortened(line), units.seconds(spent))
                  for line, spent in use.lines.most_common(_LINES)],
        "more_lines": max(len(use.lines) - _LINES, 0),
    }  # fmt: skip


def _facts(fact: Fact) -> list[tuple[str, str]]:
    dims = fact.get("dims", ())
    size = int(fact["type"].get("size", 0))
    found = [
        ("type", words.type_(fact["type"])),
        ("extent", words.extent(dims)),
        ("layout", str(fact.get("layout", ""))),
    ]
    if chunk := fact.get("chunk"):
        found.append(("chunk", f"{words.extent(chunk)}: {units.size(words.product(chunk) * size)}"))
    filters = [words.filter_(each) for each in fact.get("filters", ())]
    found.append(("filters", ", ".join(filters) or "none"))
    found.append(("what is not written", "filled" if fact.get("fills") else "undefined"))
    return found


def _map(
    mine: Sequence[tuple[Seat, NDArray[np.int64]]], callback: str, past: str, fact: Fact | None
) -> dict[str, Any] | None:
    """The grid of what was read or written; all processes together."""
    dims = tuple(fact.get("dims", ())) if fact else ()
    grids = []
    for seat, ids in mine:
        rows = np.flatnonzero(
            seat.are((callback,)) & np.isin(seat.calls["object"], ids) & (seat.calls["failed"] == 0)
        )
        if len(rows):
            shapes, starts = seat.calls["file_shape"][rows], seat.calls["file_start"][rows]
            found = accesses.grid(seat.process.shapes, shapes, starts, dims)
            grids += [found] if found else []
    # Of a dataset that has grown meanwhile, processes may know different extents.
    groups = Counter((each.dims, each.axes) for each in grids)
    if not groups:
        return None
    best = groups.most_common(1)[0][0]
    same = [each for each in grids if (each.dims, each.axes) == best]
    whole = accesses.Grid(
        *best, np.sum([each.often for each in same], axis=0), sum(each.boxed for each in same)
    )
    return _drawn(whole, past, len(grids) - len(same))


def _drawn(grid: Grid, past: str, left_out: int) -> dict[str, Any]:
    often = grid.often if grid.often.ndim == 2 else grid.often[None, :]
    classes, least, most = drawing.how_often(often)
    touched = words.share(float((often > 0).sum()), often.size)
    text = f"{touched} of the cells were {past}"
    if most:
        text += f", their elements {_range(least, most)} on average"
    return {
        "past": past,
        "width": often.shape[1],
        "height": often.shape[0],
        "flat": grid.often.ndim == 1,
        "paths": drawing.classes_to_paths(classes),
        "text": text,
        "scale": _scale(classes, least, most),
        "axes": _axes(grid),
        "boxed": grid.boxed,
        "left_out": left_out,
    }


def _scale(classes: NDArray[np.int64], least: float, most: float) -> dict[str, Any]:
    """The legend: all colours between two ends, or the only one."""
    low, high = _often(least), _often(most)
    if low == high:
        return {"levels": np.unique(classes[classes > 0]).tolist(), "least": "", "most": low}
    return {"levels": list(range(1, drawing.LEVELS + 1)), "least": low, "most": high}


def _often(value: float) -> str:
    if value < 0.001:
        return "less than 0.001 times"
    text = f"{value:.3g}" if value < 1000 else units.count(value)
    return "once" if text == "1" else f"{text} times"


def _range(least: float, most: float) -> str:
    low, high = _often(least), _often(most)
    return low if low == high else f"from {low} to {high}"


def _axes(grid: Grid) -> str:
    dims = [units.count(each) for each in grid.dims]
    if len(dims) == 1:
        return f"From left to right: {dims[0]} elements."
    down, right = grid.axes
    text = (
        f"From top to bottom: dimension {down} ({dims[down]}); "
        f"from left to right: dimension {right} ({dims[right]})."
    )
    return text + (" Other dimensions are averaged over." if len(dims) > 2 else "")


def _sizes(mine: Sequence[tuple[Seat, NDArray[np.int64]]]) -> list[dict[str, Any]]:
    """Rows of the histogram: calls of the program and requests to the storage by their bytes."""
    calls: Counter[int] = Counter()
    requests: Counter[int] = Counter()
    for seat, ids in mine:
        rows = seat.transfers[np.isin(seat.calls["object"][seat.transfers], ids)]
        calls.update(drawing.histogram(seat.calls["bytes"][rows]))
        owned = seat.owner >= 0
        moves = owned & (seat.requests["kind"] < 2)
        moves[moves] = np.isin(seat.calls["object"][seat.owner[moves]], ids)
        requests.update(drawing.histogram(seat.requests["length"][moves]))
    powers = sorted(calls.keys() | requests.keys())
    if not powers:
        return []
    positive = [power for power in powers if power >= 0]
    wanted = [-1] * (powers[0] < 0)
    wanted += range(positive[0], positive[-1] + 1) if positive else ()
    most = max(*calls.values(), *requests.values(), 1)
    return [
        {
            "size": words.power(power),
            "calls": units.count(calls[power]),
            "requests": units.count(requests[power]),
            "calls_width": _bar(calls[power], most),
            "requests_width": _bar(requests[power], most),
        }
        for power in wanted
    ]


def _bar(number: int, most: int) -> str:
    """Of a bar; what is there must be seen."""
    return f"{max(_BARS * number / most, 1.5) if number else 0:.1f}"
