"""Which selections have elements in common: products of rows of blocks, one row a dimension."""

from __future__ import annotations

from dataclasses import dataclass
from math import gcd
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True)
class Slabs:
    """Hyperslabs of one dataset, a row each and a column for each dimension.

    No block is empty, and those of a row do not overlap: `stride` is at least `block`.
    """

    start: NDArray[np.int64]
    count: NDArray[np.int64]
    stride: NDArray[np.int64]
    block: NDArray[np.int64]

    def take(self, rows: NDArray[np.int64]) -> Slabs:
        """Some of them."""
        return Slabs(self.start[rows], self.count[rows], self.stride[rows], self.block[rows])

    @property
    def end(self) -> NDArray[np.int64]:
        """Past the last element."""
        end: NDArray[np.int64] = self.start + (self.count - 1) * self.stride + self.block
        return end


def overlap(first: Slabs, second: Slabs) -> NDArray[np.bool_]:
    """Which rows of both, as many in each, have an element in common; exact."""
    found = np.ones(len(first.start), np.bool_)
    for axis in range(first.start.shape[1]):
        rows = np.flatnonzero(found)
        found[rows] = _along(first.take(rows), second.take(rows), axis)
    return found


def _along(one: Slabs, other: Slabs, axis: int) -> NDArray[np.bool_]:
    """The same along a dimension.

    Block i of one and block j of the other meet where i * stride + offset, less j times the other
    stride, is between 0 and `width`.
    """
    stride, step = one.stride[:, axis], other.stride[:, axis]
    width = one.block[:, axis] + other.block[:, axis] - 2
    offset = one.start[:, axis] - other.start[:, axis] + one.block[:, axis] - 1
    furthest = (other.count[:, axis] - 1) * step + width
    first = np.maximum(-(offset // stride), 0)
    last = np.minimum((furthest - offset) // stride, one.count[:, axis] - 1)
    blocks = np.maximum(last - first + 1, 0)
    offset = (offset + first * stride) % step
    common = np.gcd(stride, step)
    found: NDArray[np.bool_] = (blocks > 0) & (offset % common <= width)
    # All distances are met after so many blocks; with fewer, they are to be counted.
    some = found & (offset > width) & (blocks < step // common)
    for row in np.flatnonzero(some).tolist():
        found[row] = _meets(*(int(each[row]) for each in (blocks, step, stride, offset, width)))
    return found


def _meets(blocks: int, step: int, stride: int, offset: int, width: int) -> bool:
    """Whether (i * stride + offset) % step is at most `width` for any i below `blocks`."""
    most = _quotients(blocks, step, stride, offset + step)
    return most > _quotients(blocks, step, stride, offset + step - width - 1)


def _quotients(count: int, divisor: int, factor: int, offset: int) -> int:
    """The sum of (i * factor + offset) // divisor for i below `count`, in as many steps as gcd."""
    total = 0
    while count > 0:
        total += (count - 1) * count // 2 * (factor // divisor) + count * (offset // divisor)
        factor, offset = factor % divisor, offset % divisor
        last = factor * count + offset
        if last < divisor:
            break
        count, offset, factor, divisor = last // divisor, last % divisor, divisor, factor
    return total


def common(first: Slabs, second: Slabs) -> str:
    """What the first rows of both, which overlap, have in common, as slices of h5py.

    Where blocks of several elements have gaps between them it is a slice that is as long and holds
    more.
    """
    axes = range(first.start.shape[1])
    return ", ".join(_slice(first, second, axis) for axis in axes)


def _slice(first: Slabs, second: Slabs, axis: int) -> str:
    begin = int(max(each.start[0, axis] for each in (first, second)))
    end = int(min(each.end[0, axis] for each in (first, second)))
    phase, step = 0, 1
    for each in (first, second):
        if each.count[0, axis] > 1 and each.block[0, axis] == 1:
            start, stride = int(each.start[0, axis]), int(each.stride[0, axis])
            shared = gcd(step, stride)
            steps = (start - phase) // shared * pow(step // shared, -1, stride // shared)
            phase += step * (steps % (stride // shared))
            step = step // shared * stride
    begin += (phase - begin) % step
    last = end - 1 - (end - 1 - phase) % step
    if begin >= last:
        return str(begin)
    return f"{begin}:{last + 1}" if step == 1 else f"{begin}:{last + 1}:{step}"
