"""Data that can be made again anywhere: what is written, and what a reader must find."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]

WIDTH = 4096  # elements in a row of a field: 16 KiB
_TILE = 4096  # rows; what is larger repeats them, moved
_SHIFT = 4099
# The noise of a measurement and the steps of its instrument: gzip takes off a third, and half of
# what was shuffled.
_NOISE, _STEP = np.float32(0.15), np.float32(2.0**-14)


def field(size: int) -> Floats:
    """Smooth waves with noise, `size` bytes in rows of WIDTH; each place has a value of its own."""
    rows = size // (4 * WIDTH)
    tile = _tile(min(rows, _TILE))
    if rows <= _TILE:
        return tile
    whole = np.empty((rows, WIDTH), np.float32)
    for number, start in enumerate(range(0, rows, _TILE)):
        part = whole[start : start + _TILE]
        part[...] = np.roll(tile, number * _SHIFT)[: len(part)]
    return whole


def _tile(rows: int) -> Floats:
    x = np.linspace(0, 6 * np.pi, WIDTH, dtype=np.float32)
    y = np.linspace(0, rows / _TILE * 6 * np.pi, rows, dtype=np.float32)
    smooth = np.outer(np.sin(y), np.cos(x)) + np.outer(np.cos(2 * y), np.sin(3 * x))
    noise = np.random.default_rng(20).standard_normal((rows, WIDTH), dtype=np.float32)
    return np.asarray(np.round((smooth + _NOISE * noise) / _STEP) * _STEP, np.float32)


def steps(size: int) -> Floats:
    """One step of a simulation, flat; the number of the step is to be added to it."""
    return np.arange(size // 4, dtype=np.float32) % 65521


def order(count: int) -> NDArray[np.int64]:
    """The places of a permutation, in the order in which they are visited."""
    return np.random.default_rng(7).permutation(count)


def values(count: int) -> NDArray[np.float64]:
    """A number for each place."""
    return np.arange(count, dtype=np.float64) * 1.5 + 1


def first_difference(found: NDArray[Any], expected: NDArray[Any]) -> str:
    """Where two arrays differ first; empty where they do not."""
    if found.dtype != expected.dtype or found.shape != expected.shape:
        return f"{found.dtype} of {found.shape} was read, not {expected.dtype} of {expected.shape}"
    if np.array_equal(found, expected):
        return ""
    place = tuple(int(i) for i in np.argwhere(found != expected)[0])
    return f"element {place} was read as {found[place]}, not {expected[place]}"
