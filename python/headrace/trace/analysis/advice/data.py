"""What rules look at: a dataset that a process waited for."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Final

import numpy as np

from headrace.trace.analysis.advice.process import (
    BILLION,
    is_netcdf,
    is_python,
    line_with_most,
    spent_around,
)
from headrace.trace.model.process import MEMORY_TYPES
from headrace.trace.model.seats import WRITE

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from headrace.trace.analysis.advice.advice import Code
    from headrace.trace.analysis.advice.evidence import Run
    from headrace.trace.model.process import Fact
    from headrace.trace.model.seats import Seat

RAW: Final = MEMORY_TYPES.index("raw data")
COPIED: Final = 4e9  # bytes of memory that a core copies in a second
_MOST: Final = 1 << 62  # bytes: a damaged trace may tell of more
_SET_EXTENT: Final = 0  # operation of dataset_specific


@dataclass
class Data:
    """One dataset of a file in one process: the program's calls on it that did not fail.

    One that is made anew under the same name is another. `rows` are those of `seat.calls`, and
    `spent_below` has for each row of these the seconds of its requests to the storage. Arrays have
    a place for each transfer, in the order of their ends, or for each request for raw data that
    was made in any of these calls.
    """

    run: Run
    seat: Seat
    file: str
    path: str
    layout: Fact
    rows: NDArray[np.int64]
    spent_below: NDArray[np.float64]

    @cached_property
    def dims(self) -> list[int]:
        """The largest extent that a transfer has found: datasets grow."""
        first = [int(n) for n in self.layout.get("dims", [])]
        shapes = np.unique(self.of("file_shape")).tolist()
        found = [self.seat.process.shapes.get(each, {}).get("dims", []) for each in shapes]
        found = [each for each in found if len(each) == len(first)]
        return [max(map(int, axis)) for axis in zip(first, *found, strict=True)]

    @property
    def parallel(self) -> bool:
        """Whether ranks have opened its file together."""
        files = self.seat.process.files.values()
        return any(each["parallel"] for each in files if each["name"] == self.file)

    @property
    def made(self) -> bool:
        """Whether this program made it."""
        return bool(self.count_of("dataset_create"))

    @cached_property
    def resized(self) -> int:
        """How often its extent was set."""
        return self.special(_SET_EXTENT)

    def special(self, operation: int) -> int:
        """How many of these operations that are for datasets alone."""
        rows = self.rows[self.seat.are(("dataset_specific",))[self.rows]]
        mine = rows[self.seat.calls["operation"][rows] == operation]
        return int(self.seat.calls["count"][mine].sum())

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
        raw, order = self.seat.calls, self.seat.order
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

    def requests_in(self, kind: int, *callbacks: str) -> NDArray[np.int64]:
        """Those of a kind that were made in such calls."""
        rows = self.requests(kind)
        found: NDArray[np.int64] = rows[self.seat.are(callbacks)[self.seat.owner[rows]]]
        return found

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
        return min(math.prod(self.dims) * self.item, _MOST)

    @cached_property
    def chunk(self) -> int:
        """Bytes of one, decoded; 0 where there are none, or not of as many dimensions."""
        chunk = self.layout.get("chunk", [])
        alike = len(chunk) == len(self.dims) > 0
        return min(math.prod(chunk) * self.item, _MOST) if alike else 0

    @property
    def filtered(self) -> bool:
        """Whether its chunks are encoded."""
        return bool(self.layout["filters"]) and self.chunk > 0

    @property
    def python(self) -> bool:
        """Whether the program is in Python."""
        return is_python(self.seat)

    @property
    def netcdf(self) -> bool:
        """Whether it uses netCDF's library."""
        return is_netcdf(self.seat)

    def code(self, code: Code) -> str:
        """In the program's language."""
        return code.of(python=self.python, netcdf=self.netcdf)

    @property
    def line(self) -> str:
        """Of the program, that of most of the time of these calls."""
        return line_with_most(self.seat, self.rows)
