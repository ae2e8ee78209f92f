"""Writes that the program waits for before it computes on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from headrace.trace.analysis.advice.advice import Advice
from headrace.trace.analysis.advice.process import line_with_most
from headrace.trace.model.seats import READ, WRITE
from headrace.units import count, seconds, size

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from headrace.trace.model.seats import Seat

_STAGED: Final = 1.5e9  # bytes that are copied for a worker in a second, to memory that is new
_FEW: Final = 4
_MOVES: Final = (READ, WRITE, "file_close", "file_specific")  # which is a flush, mostly


def behind(seat: Seat) -> Iterator[Advice]:
    """What would end while the program computes."""
    rows = np.flatnonzero(seat.are((WRITE,)) & seat.top & (seat.calls["count"] == 1))
    if len(rows) < _FEW or any(each["parallel"] for each in seat.process.files.values()):
        return
    idle = _idle(seat, rows)
    waited = seat.own[rows] - seat.calls["bytes"][rows] / _STAGED
    hidden = np.minimum(np.maximum(waited, 0), idle)
    moved = int(seat.calls["bytes"][rows].sum())
    yield Advice(
        "compute_between_writes",
        "all files",
        f"{count(len(rows))} writes of {size(moved)} in all took "
        f"{seconds(float(seat.own[rows].sum()))}, and the program computes for "
        f"{seconds(float(idle.sum()))} after them",
        "Have the layer `async` write while the program computes",
        "headrace run --stack async -- PROGRAM",
        float(hidden.sum()),
        "of each write the time that is followed by as much without HDF5, less that to copy "
        f"its data at {size(_STAGED)} a second",
        "a crash loses what is not written yet; staged data takes memory (budget=…)",
        line_with_most(seat, rows),
        stack="async",
    )


def _idle(seat: Seat, rows: NDArray[np.int64]) -> NDArray[np.float64]:
    """Seconds after each of these calls without HDF5, until the next transfer or close."""
    order = seat.order
    moves = seat.are(_MOVES)[order]
    number = np.cumsum(moves)  # gaps belong to the move that they come after
    sums: NDArray[np.float64] = np.bincount(number, seat.gaps).astype(np.float64)
    place = np.empty(len(seat.own), np.int64)
    place[order] = number
    return sums[place[rows]]
