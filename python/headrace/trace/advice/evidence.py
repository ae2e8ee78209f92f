"""What rules look at: the run, and each dataset that a process waited for."""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np

from headrace.trace.reader import MEMORY_TYPES, line_of
from headrace.trace.seats import WRITE

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from headrace.trace.reader import Fact, Trace
    from headrace.trace.seats import Seat
    from headrace.trace.summary import Totals, Use

RAW: Final = MEMORY_TYPES.index("raw data")
COPIED: Final = 4e9  # bytes of memory that a core copies in a second
LEAST: Final = 0.01  # seconds, and share of the run: less is noise
BILLION: Final = 1e9
_MOST: Final = 1 << 62  # bytes: a damaged trace may tell of more
BETWEEN: Final = 300e-6  # seconds: h5py is not longer between two calls


@dataclass
class Run:
    """All of it; `uses` are those of its objects."""

    trace: Trace
    uses: Sequence[Use]
    sums: Totals

    @property
    def noise(self) -> float:
        """Seconds that are not worth a word."""
        return max(LEAST, LEAST * self.sums.span)

    @cached_property
    def datasets(self) -> list[Data]:
        """Those that a process waited for longer than that."""
        return [data for seat in self.trace.seats for data in _datasets(seat, self.noise)]


@dataclass
class Data:
    """One dataset of a file in one process: the program's calls on it that did not fail.

    `rows` are those of `seat.calls`, and `spent_below` has for each row of these the seconds of its
    requests to the storage. Arrays have a place for each transfer, in the order of their
    ends, or for each request for raw data that was made in any of these calls.
    """

    seat: Seat
    file: str
    path: str
    layout: Fact
    rows: NDArray[np.int64]
    spent_below: NDArray[np.float64]

    @cached_property
    def transfers(self) -> NDArray[np.int64]:
        """Rows of `seat.calls`."""
        return self.rows[np.isin(self.rows, self.seat.transfers)]

    @cached_property
    def writes(self) -> NDArray[np.bool_]:
        """Which transfers write."""
        return self.seat.are((WRITE,))[self.transfers]

    @cached_property
    def bytes(self) -> NDArray[np.int64]:
        """That the program moved in each transfer."""
        return self.seat.calls["bytes"][self.transfers]

    @cached_property
    def seconds(self) -> NDArray[np.float64]:
        """Of each transfer."""
        found: NDArray[np.float64] = self.seat.own[self.transfers]
        return found

    @cached_property
    def stored(self) -> NDArray[np.float64]:
        """Of these the seconds in requests to the storage."""
        found: NDArray[np.float64] = self.spent_below[self.transfers]
        return found

    @cached_property
    def before(self) -> NDArray[np.float64]:
        """Seconds before each transfer in which the program made no call."""
        raw, top = self.seat.calls, np.flatnonzero(self.seat.top)
        order = top[np.argsort(raw["begin"][top], kind="stable")]
        ends = raw["begin"][order] + raw["duration"][order]
        begins = self.of("begin")
        last = np.searchsorted(raw["begin"][order], begins) - 1
        gaps = np.where(last < 0, 0, begins - ends[np.maximum(last, 0)]) / BILLION
        return np.maximum(gaps, 0)

    @cached_property
    def requested(self) -> NDArray[np.int64]:
        """Rows of `seat.requests`: for raw data, in any call on the dataset."""
        mine = np.zeros(len(self.seat.own) + 1, np.bool_)  # the last place: made in no call
        mine[self.rows] = True
        return np.flatnonzero(mine[self.seat.owner] & (self.seat.requests["type"] == RAW))

    def spent_on(self, requests: NDArray[np.int64]) -> float:
        """Seconds of them."""
        return float(self.seat.requests["duration"][requests].sum()) / BILLION

    def requests(self, kind: int) -> NDArray[np.int64]:
        """Those of a kind: 0 read, 1 written."""
        found: NDArray[np.int64] = self.requested[
            self.seat.requests["kind"][self.requested] == kind
        ]
        return found

    def shapes(self, chosen: NDArray[np.bool_]) -> list[Fact]:
        """What each of the chosen transfers selects; empty where it is not recorded."""
        known = self.seat.process.shapes
        return [known.get(i, {}) for i in self.of("file_shape")[chosen].tolist()]

    def of(self, column: str) -> NDArray[np.int64]:
        """That column of the transfers."""
        return self.seat.calls[column][self.transfers]

    def spent_in(self, *callbacks: str) -> float:
        """Seconds of such calls on the dataset."""
        return float(self.seat.own[self.rows[self.seat.are(callbacks)[self.rows]]].sum())

    def around(self, *callbacks: str) -> float:
        """The same, with h5py's time after each."""
        return spent_around(self.seat, self.rows[self.seat.are(callbacks)[self.rows]])

    def count_of(self, *callbacks: str) -> int:
        """How many such calls on the dataset there were."""
        return int(self.seat.calls["count"][self.rows[self.seat.are(callbacks)[self.rows]]].sum())

    @property
    def item(self) -> int:
        """Bytes of an element in the file."""
        return max(int(self.layout["type"]["size"]), 1)

    @cached_property
    def whole(self) -> int:
        """Bytes of all elements."""
        return min(math.prod(self.layout.get("dims", [0])) * self.item, _MOST)

    @cached_property
    def chunk(self) -> int:
        """Bytes of one, decoded; 0 where there are none."""
        chunk = self.layout.get("chunk")
        return min(math.prod(chunk) * self.item, _MOST) if chunk else 0

    @property
    def filtered(self) -> bool:
        """Whether its chunks are encoded."""
        return bool(self.layout["filters"]) and self.chunk > 0

    @property
    def python(self) -> bool:
        """Whether the program is in Python."""
        return is_python(self.seat)

    @property
    def line(self) -> str:
        """Of the program, that of most of the time of these calls."""
        return line_with_most(self.seat, self.rows)


def is_summed(seat: Seat) -> bool:
    """Whether rows stand for several calls, as with `level=profile`."""
    return bool((seat.calls["count"] > 1).any())


def is_python(seat: Seat) -> bool:
    """Whether the process runs a program in Python."""
    command = seat.process.about.get("command") or [""]
    lines = seat.process.lines.values()
    return "python" in Path(command[0]).name or any(".py" in str(e["source"]) for e in lines)


def line_with_most(seat: Seat, rows: NDArray[np.int64]) -> str:
    """Of the program, that of most of the time of these calls; empty where none is known."""
    lines, places = np.unique(seat.calls["line"][rows], return_inverse=True)
    spent = np.bincount(places, seat.own[rows], len(lines))
    for place in np.argsort(-spent).tolist():
        fact = seat.process.lines.get(int(lines[place]))
        if fact is not None and "/h5py/" not in str(fact["source"]):
            return line_of(fact)
    return ""


def spent_around(seat: Seat, rows: NDArray[np.int64]) -> float:
    """The sum of `times_around` of these calls."""
    return float(times_around(seat)[rows].sum())


def times_around(seat: Seat) -> NDArray[np.float64]:
    """Seconds of each call and, of a program in Python, of h5py between it and the next.

    What is longer than h5py takes for a call is the program's own.
    """
    if not is_python(seat) or is_summed(seat):
        return seat.own
    raw, top = seat.calls, np.flatnonzero(seat.top)
    order = top[np.argsort(raw["begin"][top], kind="stable")]
    ends = raw["begin"][order] + raw["duration"][order]
    gaps = np.maximum(np.append(raw["begin"][order][1:] - ends[:-1], 0), 0) / BILLION
    after = np.zeros(len(raw["begin"]))
    after[order] = np.where(gaps < BETWEEN, gaps, 0)
    return seat.own + after


def _datasets(seat: Seat, least: float) -> Iterator[Data]:
    """By file and path: what is opened again may have another id."""
    process, raw = seat.process, seat.calls
    made = seat.owner >= 0
    below = seat.requests["duration"][made] / BILLION
    spent_below = np.bincount(seat.owner[made], below, len(seat.own)).astype(np.float64)
    good = np.flatnonzero(raw["failed"] == 0)
    ids, places = np.unique(raw["object"][good], return_inverse=True)
    ids_of: dict[tuple[str, str], list[int]] = defaultdict(list)
    for place, id_ in enumerate(ids.tolist()):
        about = process.objects.get(id_)
        if about is not None and about["kind"] == "dataset":
            file = process.files.get(about["file"], {}).get("name", "")
            ids_of[file, about["path"]].append(place)
    spent = np.bincount(places, seat.own[good], len(ids))
    order = np.argsort(places, kind="stable")
    parts = np.split(good[order], np.searchsorted(places[order], np.arange(1, len(ids))))
    for (file, path), mine in ids_of.items():
        known = [process.datasets[i] for i in ids[mine].tolist() if i in process.datasets]
        if known and spent[mine].sum() >= least:
            rows = np.sort(np.concatenate([parts[place] for place in mine]))
            yield Data(seat, file, path, known[0], rows, spent_below)
