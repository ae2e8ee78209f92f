"""Pairs of boxes that overlap, among many: space is cut in two until few are left in a part."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from headrace.trace.analysis.hazards.overlap import Slabs

_FEW: Final = 64
_AT_ONCE: Final = 1 << 20  # pairs
_SMALLER: Final = 0.8  # of a part, at most, is in each half of a cut that is worth it
_TWICE: Final = 1.3  # of it in both together
_FAR: Final = np.iinfo(np.int64).max

Pairs = tuple["NDArray[np.int64]", "NDArray[np.int64]"]


def boxes(slabs: Slabs) -> Pairs:
    """Where selections begin and end, by row and dimension.

    As more dimensions, where they do within a stride: of those in which all strides are the same.
    """
    begins, ends = [slabs.start], [slabs.end]
    for axis in range(slabs.start.shape[1]):
        strides = np.unique(slabs.stride[:, axis][slabs.count[:, axis] > 1])
        if len(strides) == 1:
            (stride,) = strides
            begin = slabs.start[:, axis] % stride
            end = begin + slabs.block[:, axis]
            around = end > stride
            begins.append(np.where(around, 0, begin)[:, None])
            ends.append(np.where(around, stride, end)[:, None])
    return np.concatenate(begins, axis=1), np.concatenate(ends, axis=1)


@dataclass(frozen=True)
class Boxes:
    """Whose they are, and which are written, beside `boxes`."""

    begin: NDArray[np.int64]
    end: NDArray[np.int64]
    owner: NDArray[np.int64]
    writes: NDArray[np.bool_]


def pairs(of: Boxes) -> Iterator[Pairs]:
    """Rows of boxes that overlap, of two owners, the first of which is a write; each pair once.

    Memory is bounded by the number of boxes and a million pairs.
    """
    width = of.begin.shape[1]
    low, high = np.full(width, -_FAR), np.full(width, _FAR)
    parts = [(np.arange(len(of.begin)), low, high)]
    while parts:
        rows, low, high = parts.pop()
        if not of.writes[rows].any() or (of.owner[rows] == of.owner[rows[0]]).all():
            continue
        cut = _cut(of.begin[rows], of.end[rows]) if len(rows) > _FEW else None
        if cut is None:
            yield from _all_pairs(of, rows, low, high)
            continue
        axis, at = cut
        below, above = high.copy(), low.copy()
        below[axis] = above[axis] = at
        parts.append((rows[of.begin[rows, axis] < at], low, below))
        parts.append((rows[of.end[rows, axis] > at], above, high))


def _cut(begin: NDArray[np.int64], end: NDArray[np.int64]) -> tuple[int, int] | None:
    """A dimension and a place that part the boxes well; None where none does."""
    best, found = _SMALLER * len(begin), None
    for axis in range(begin.shape[1]):
        places = begin[:, axis]
        at = int(np.partition(places, len(places) // 2)[len(places) // 2])
        sides = int((places < at).sum()), int((end[:, axis] > at).sum())
        if max(sides) < best and sum(sides) <= _TWICE * len(begin):
            best, found = max(sides), (axis, at)
    return found


def _all_pairs(
    of: Boxes, rows: NDArray[np.int64], low: NDArray[np.int64], high: NDArray[np.int64]
) -> Iterator[Pairs]:
    """Those whose common part begins in this part of space: others are another part's."""
    written = rows[of.writes[rows]]
    step = max(1, _AT_ONCE // len(rows))
    for at in range(0, len(written), step):
        some = written[at : at + step]
        met = of.owner[some, None] != of.owner[rows]
        met &= ~of.writes[rows] | (some[:, None] < rows)
        for axis in range(of.begin.shape[1]):
            corner = np.maximum(of.begin[some, axis, None], of.begin[rows, axis])
            met &= corner < np.minimum(of.end[some, axis, None], of.end[rows, axis])
            met &= (corner >= low[axis]) & (corner < high[axis])
        first, second = np.nonzero(met)
        if len(first):
            yield some[first], rows[second]
