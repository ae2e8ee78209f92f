"""Which parts of a dataset were read and written, and how often: its space as a grid of cells."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

LINE: Final = 256  # cells of a dataset of one dimension
SIDE: Final = 64  # cells along each of two dimensions
_MOST: Final = 1 << 61  # elements along a dimension: sums of such numbers stay whole
_ROWS: Final = 1 << 13  # that are worked on at once
_BOXED: Final = ("union", "points")


@dataclass(frozen=True)
class Grid:
    """`often`: how many times each element of a cell was accessed, on average.

    `axes` are the dimensions that are shown; over those between them and beyond it is the average.
    """

    dims: tuple[int, ...]
    axes: tuple[int, ...]
    often: NDArray[np.float64]
    boxed: int  # transfers that are drawn as the box around their selection


@dataclass(frozen=True)
class Selections:
    """Rows of equal length: what each selects along each dimension, and how often it was used."""

    start: NDArray[np.int64]  # (rows, dimensions), as the others
    count: NDArray[np.int64]
    stride: NDArray[np.int64]
    block: NDArray[np.int64]
    used: NDArray[np.float64]
    boxed: int = 0


def grid(
    facts: Mapping[int, Mapping[str, Any]],
    shapes: NDArray[np.int64],
    starts: NDArray[np.int64],
    dims: tuple[int, ...],
) -> Grid | None:
    """Of transfers by `file_shape` and `file_start`; None where there is nothing to show.

    Hyperslabs are exact. Of unions and points only the box around them is known.
    """
    extent = _extent(facts, shapes, dims)
    if not extent or min(extent) == 0:
        return None
    found = _selections(facts, shapes, starts, len(extent))
    if not len(found.used):
        return None
    axes = _axes(found, extent)
    often = _cells(found, extent, axes)
    return Grid(extent, axes, often, found.boxed)


def _extent(
    facts: Mapping[int, Mapping[str, Any]], shapes: NDArray[np.int64], dims: tuple[int, ...]
) -> tuple[int, ...]:
    """The largest that the dataset was, as it may have grown."""
    extent = [min(int(each), _MOST) for each in dims]
    for id_ in np.unique(shapes).tolist():
        told = [min(int(each), _MOST) for each in facts.get(id_, {}).get("dims", ())]
        if not extent:
            extent = told
        elif len(told) == len(extent):
            extent = [max(pair) for pair in zip(extent, told, strict=True)]
    return tuple(extent)


def _selections(
    facts: Mapping[int, Mapping[str, Any]],
    shapes: NDArray[np.int64],
    starts: NDArray[np.int64],
    rank: int,
) -> Selections:
    pairs, used = _counted(shapes, starts)
    ids, inverse = np.unique(pairs[:, 0], return_inverse=True)
    rows = np.array([told(facts.get(id_, {}), rank) for id_ in ids.tolist()], np.int64)
    rows = rows.reshape(len(ids), 4, rank)
    kinds = [str(facts.get(id_, {}).get("kind", "")) for id_ in ids.tolist()]
    known = (rows[:, 0] > 0).all(axis=1) & (np.array(kinds) != "none")
    boxed = np.isin(np.array(kinds), _BOXED)[inverse]
    keep = known[inverse]
    mine, rest = rows[inverse[keep]], pairs[keep, 1].copy()
    start = np.empty((len(rest), rank), np.int64)
    for axis in reversed(range(rank)):
        start[:, axis] = rest % mine[:, 0, axis]
        rest //= mine[:, 0, axis]
    return Selections(
        start, mine[:, 1], mine[:, 2], mine[:, 3], used[keep], int(used[keep & boxed].sum())
    )


def _counted(
    shapes: NDArray[np.int64], starts: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Each pair of a shape and a start once, with how often it is there."""
    order = np.lexsort((starts, shapes))
    pairs = np.stack([shapes[order], starts[order]], axis=1)
    new = np.ones(len(pairs), bool)
    new[1:] = (pairs[1:] != pairs[:-1]).any(axis=1)
    first = np.flatnonzero(new)
    return pairs[first], np.diff(np.append(first, len(pairs))).astype(np.float64)


def told(fact: Mapping[str, Any], rank: int) -> list[list[int]]:
    """Dims, count, stride and block; zeros for a shape that does not fit."""
    dims = list(fact.get("dims", ()))
    whole = fact.get("kind") == "all"
    block = dims if whole else list(fact.get("block", ()))
    count = list(fact.get("count", [1] * rank))
    stride = list(fact.get("stride", block))
    found = [dims, count, stride, block]
    if any(len(each) != rank for each in found):
        return [[0] * rank] * 4
    limited = [[max(0, min(int(number), _MOST)) for number in each] for each in found]
    # Blocks do not overlap.
    limited[2] = [max(pair) for pair in zip(limited[2], limited[3], strict=True)]
    return limited


def _axes(found: Selections, extent: tuple[int, ...]) -> tuple[int, ...]:
    """All of up to two dimensions; of more, the two along which calls select the least part."""
    if len(extent) <= 2:
        return tuple(range(len(extent)))
    parts = (found.count * found.block * found.used[:, None]).sum(axis=0) / np.array(extent)
    single = np.array(extent) == 1
    order = np.lexsort((-np.array(extent), parts, single))
    return tuple(sorted(order[:2].tolist()))


def edges(length: int, most: int) -> NDArray[np.int64]:
    """Where cells begin and end: as many as there are elements, but at most `most`."""
    cells = min(length, most)
    return np.array([length * i // cells for i in range(cells + 1)], np.int64)


def _cells(
    found: Selections, extent: tuple[int, ...], axes: tuple[int, ...]
) -> NDArray[np.float64]:
    most = LINE if len(axes) == 1 else SIDE
    at = [edges(extent[axis], most) for axis in axes]
    others = [axis for axis in range(len(extent)) if axis not in axes]
    weight = found.used.copy()
    for axis in others:
        weight *= found.count[:, axis] * found.block[:, axis] / extent[axis]
    total = np.zeros([len(each) - 1 for each in at])
    for begin in range(0, len(weight), _ROWS):
        rows = slice(begin, begin + _ROWS)
        parts = [_within(found, rows, axis, each) for axis, each in zip(axes, at, strict=True)]
        weighted = parts[0] * weight[rows, None]
        total += weighted.sum(axis=0) if len(axes) == 1 else weighted.T @ parts[1]
    for number, each in enumerate(at):
        size = np.diff(each).astype(np.float64)
        total /= size.reshape([-1 if i == number else 1 for i in range(len(at))])
    return total


def _within(
    selections: Selections, rows: slice, axis: int, at: NDArray[np.int64]
) -> NDArray[np.float64]:
    """How many elements each row selects in each cell along a dimension."""
    count, stride, block = (
        each[rows, axis, None] for each in (selections.count, selections.stride, selections.block)
    )
    before = at[None, :] - selections.start[rows, axis, None]
    if (count == 1).all():
        found: NDArray[np.int64] = np.diff(np.clip(before, 0, block), axis=1)
        return found.astype(np.float64)
    before = np.maximum(before, 0)
    whole = np.minimum(before // np.maximum(stride, 1), count)
    part = np.where(whole < count, np.minimum(before - whole * stride, block), 0)
    found = np.diff(whole * block + part, axis=1)
    return found.astype(np.float64)
