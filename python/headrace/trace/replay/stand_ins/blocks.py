"""Which parts of a dataset a program has looked at, and in how many bytes each was stored."""

from __future__ import annotations

import ctypes
import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from headrace.trace.replay.hdf5.filters import Place

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from headrace.trace.replay.hdf5.library import Library
    from headrace.trace.replay.stand_ins.known import Touch

_NONE, _ALL = 0, 3  # H5S_sel_type
_PIECE: Final = 1 << 20  # bytes that are written at once where there are no chunks
_LEVELS: Final = 16  # sizes of chunks that values are looked for, at least
_SEARCHED: Final = 4 << 20  # bytes of chunks of different sizes; of small ones there are more


@dataclass(frozen=True)
class Grid:
    """Blocks of a dataset: its chunks, or pieces of what has none. Places are first elements."""

    dims: Place
    sides: Place

    def extent(self, place: Place) -> Place:
        """What is of a block within the dataset."""
        sides = zip(self.dims, self.sides, place, strict=True)
        return tuple(min(side, whole - first) for whole, side, first in sides)

    def between(self, low: Sequence[int], high: Sequence[int]) -> Iterator[Place]:
        """Blocks with elements of a box that ends with `high`, as far as the dataset has them."""
        axes = (
            range(first // side * side, min(last + 1, whole), side)
            for first, last, side, whole in zip(low, high, self.sides, self.dims, strict=True)
        )
        return itertools.product(*axes)


def pieces(dims: Place, item: int) -> Grid:
    """Of a dataset without chunks."""
    sides, room = [], max(_PIECE // item, 1)
    for whole in reversed(dims):
        sides.append(max(min(whole, room), 1))
        room = max(room // sides[-1], 1)
    return Grid(dims, tuple(reversed(sides)))


def looked_at(
    library: Library, grid: Grid, touched: Sequence[Touch], *, chunked: bool
) -> dict[Place, int | None]:
    """Blocks that were there, and of chunks the bytes that they were stored in, where known.

    A chunk that was read without a request was not stored; of other datasets that is known when no
    read of any has made one.
    """
    reads = [each for each in touched if each.is_read]
    if reads and not any(each.stored is None or each.stored or each.heap for each in reads):
        return {}
    found: dict[Place, int | None] = {}
    absent: set[Place] = set()
    for touch in touched:
        new = [each for each in _blocks(library, grid, touch) if each not in found]
        new = [each for each in new if each not in absent]
        if chunked and touch.is_read and touch.stored is not None and not touch.stored:
            absent.update(new)
            continue
        for number, place in enumerate(new):
            sizes = touch.stored if chunked else None
            found[place] = sizes[number * len(sizes) // len(new)] if sizes else None
    return found


def _blocks(library: Library, grid: Grid, touch: Touch) -> Iterator[Place]:
    number, offset = touch.space, None
    if isinstance(number, dict):
        number, offset = number["space"], number["offset"]
    if (space := library.decoded(number, touch.process.encoded)) <= 0:
        yield from grid.between([0] * len(grid.dims), [each - 1 for each in grid.dims])
        return
    call, rank = library.call, len(grid.dims)
    kind = call("H5Sget_select_type", space)
    if kind == _ALL:
        yield from grid.between([0] * rank, [each - 1 for each in grid.dims])
        return
    numbers = ctypes.c_uint64 * rank
    low, high = numbers(), numbers()
    if call("H5Sget_simple_extent_ndims", space) != rank or kind == _NONE:
        return
    if call("H5Sget_select_bounds", space, low, high) < 0:
        return
    box = int(np.prod([last - first + 1 for first, last in zip(low, high, strict=True)]))
    is_box = call("H5Sget_select_npoints", space) == box
    moved = offset or [0] * rank
    for place in grid.between(*([n + by for n, by in zip(corner, moved, strict=True)]
                                for corner in (low, high))):  # fmt: skip
        first = [at - by for at, by in zip(place, moved, strict=True)]
        if is_box or _intersects(library, space, first, grid.sides):
            yield place


def _intersects(library: Library, space: int, first: Sequence[int], sides: Place) -> bool:
    corners: Any = ctypes.c_uint64 * len(sides)
    begin = [max(at, 0) for at in first]
    end = [at + side - 1 for at, side in zip(first, sides, strict=True)]
    return library.call("H5Sselect_intersect_block", space, corners(*begin), corners(*end)) > 0


def levels(sizes: Mapping[Place, int | None], usual: int, whole: int) -> dict[Place, int]:
    """Few sizes in place of many, with about the same sum: values of each have to be looked for.

    `usual`: where no size is known; `whole`: bytes of a chunk.
    """
    known = sorted(size for size in sizes.values() if size is not None)
    usual = round(sum(known) / len(known)) if known else usual
    different = max(_LEVELS, _SEARCHED // whole)
    if len(set(known)) <= different:
        level = {size: size for size in known}
    else:
        groups = np.array_split(np.array(known, np.int64), different)
        level = {int(size): round(float(group.mean())) for group in groups for size in group}
    return {p: usual if size is None else level[size] for p, size in sizes.items()}
