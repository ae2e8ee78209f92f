"""Chunks that selections touch, and chunks that would suit them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from headrace.trace.analysis.advice.data import Data
    from headrace.trace.model.process import Fact

TARGET: Final = 256 << 10  # bytes of a chunk that is advised
_MOST: Final = 1 << 22  # chunks that are told apart


def extent_of(shape: Fact) -> list[tuple[int, int]]:
    """By dimension: what is selected from the first element to the last, and the parts of it."""
    if shape.get("kind") == "all":
        return [(int(n), 1) for n in shape["dims"]]
    if shape.get("kind") != "hyperslab" or not {"count", "stride", "block"} <= shape.keys():
        return []
    parts = zip(shape["count"], shape["stride"], shape["block"], strict=True)
    return [(int((n - 1) * step + block), int(n)) for n, step, block in parts]


def touched_by(shape: Fact, chunk: Sequence[int]) -> float:
    """How many chunks that needs at least; 0 where it is not recorded."""
    found = 1.0 if extent_of(shape) else 0.0
    for (extent, parts), length in zip(extent_of(shape), chunk, strict=False):
        across = math.ceil(extent / max(length, 1))
        found *= max(min(across, parts), 1) if parts > 1 else across
    return found


def touched(data: Data, chunk: Sequence[int]) -> NDArray[np.float64]:
    """The same of each transfer."""
    ids, places = np.unique(data.of("file_shape"), return_inverse=True)
    known = data.seat.process.shapes
    return np.array([touched_by(known.get(i, {}), chunk) for i in ids.tolist()])[places]


def begins(data: Data, chunk: Sequence[int]) -> NDArray[np.int64]:
    """The chunk that each transfer begins in, row by row; -1 where it is not known."""
    found = np.full(len(data.transfers), -1, np.int64)
    grid = [-(-n // max(length, 1)) for n, length in zip(data.dims, chunk, strict=True)]
    for shape, rows, corner in _corners(data, np.ones(len(data.transfers), np.bool_)):
        if extent_of(shape):
            found[rows] = _numbers(corner // np.maximum(chunk, 1), grid)
    return found


def distinct(data: Data, chosen: NDArray[np.bool_]) -> int | None:
    """How many chunks the chosen transfers touch; None where that is not known, or very many."""
    chunk = np.maximum(data.layout["chunk"], 1)
    grid = [-(-n // length) for n, length in zip(data.dims, chunk.tolist(), strict=True)]
    parts, left = [], _MOST
    for shape, _, corner in _corners(data, chosen):
        extent = np.array([each for each, _ in extent_of(shape)], np.int64)
        if len(extent) != len(chunk) or not len(extent):
            return None
        first, last = corner // chunk, (corner + extent - 1) // chunk
        pairs = np.unique(np.concatenate([first, last - first + 1], axis=1), axis=0)
        left -= int(pairs[:, len(chunk) :].prod(axis=1, dtype=np.float64).sum())
        if left < 0:
            return None
        for size in np.unique(pairs[:, len(chunk) :], axis=0):
            around = np.indices(size).reshape(len(chunk), -1).T
            alike = pairs[(pairs[:, len(chunk) :] == size).all(axis=1), : len(chunk)]
            every = (alike[:, None] + around).reshape(-1, len(chunk))
            parts.append(np.unique(_numbers(every, grid)))
    return len(np.unique(np.concatenate(parts))) if parts else None


def _corners(
    data: Data, chosen: NDArray[np.bool_]
) -> list[tuple[Fact, NDArray[np.int64], NDArray[np.int64]]]:
    """By shape: the places of its transfers, and the first element of each."""
    shapes, starts = data.of("file_shape"), data.of("file_start")
    found = []
    for id_ in np.unique(shapes[chosen]).tolist():
        shape = data.seat.process.shapes.get(id_, {})
        rows = np.flatnonzero(chosen & (shapes == id_))
        corner = np.zeros((len(rows), len(data.dims)), np.int64)
        rest = starts[rows].copy()
        dims = shape.get("dims", [])
        if len(dims) != len(data.dims):
            shape, dims = {}, [1] * len(data.dims)
        for axis in reversed(range(len(dims))):
            length = max(int(dims[axis]), 1)
            corner[:, axis] = rest % length
            rest //= length
        found.append((shape, rows, corner))
    return found


def _numbers(places: NDArray[np.int64], grid: Sequence[int]) -> NDArray[np.int64]:
    """Of chunks by their places, row by row."""
    found = np.zeros(len(places), np.int64)
    for axis, length in enumerate(grid):
        found = found * max(length, 1) + places[:, axis]
    return found


def fitting(shape: Fact, data: Data) -> list[int]:
    """Chunks of about the usual size that begin as what is selected, and grow where it is thin."""
    dims = [max(n, 1) for n in data.dims]
    extents = extent_of(shape)
    if len(extents) != len(dims):
        return list(data.layout["chunk"])
    found = [min(max(extent, 1), n) for (extent, _), n in zip(extents, dims, strict=True)]
    target = max(TARGET, min(data.chunk, 4 * TARGET))
    while math.prod(found) * data.item > target and max(found) > 1:
        place = int(np.argmax(found))
        found[place] = max(found[place] // 2, 1)
    while math.prod(found) * data.item * 2 <= target:
        free = [i for i, n in enumerate(dims) if found[i] < n]
        if not free:
            break
        place = min(free, key=lambda i: found[i] / dims[i])
        found[place] = min(found[place] * 2, dims[place])
    return found
