"""What kernels write, recomputed for whole arrays; see tools/bench/pattern.hpp."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from kernels.bench_tool import bits, key_of

Array = npt.NDArray[Any]

_DIGITS = {"f4": 24, "f8": 53}


def _mixed(x: Array) -> Array:
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    x ^= x >> np.uint64(31)
    return x


def at(key: int, indices: Array, kind: str) -> Array:
    """The elements at these places of a dataset; `kind` is NumPy's: "f4", "i8", "u1"."""
    step = np.uint64(0x9E3779B97F4A7C15)
    words: Array = _mixed(np.uint64(key) + indices.astype(np.uint64) * step)
    if kind not in _DIGITS:
        return words.astype(kind)
    digits = _DIGITS[kind]
    fractions: Array = (words >> np.uint64(64 - digits)).astype(kind)
    fractions /= np.dtype(kind).type(2**digits)
    return fractions


def run_of(key: int, first: int, count: int, kind: str) -> Array:
    return at(key, np.arange(first, first + count), kind)


def smooth_run_of(key: int, first: int, count: int, kind: str) -> Array:
    """The same for the texture of compressed data."""
    width = _DIGITS.get(kind, 8 * np.dtype(kind).itemsize)
    start = _mixed(np.array([key], np.uint64)) + np.uint64(first)
    words: Array = start + np.arange(count, dtype=np.uint64)
    words &= np.uint64(2**width - 1)
    return words.astype(kind)


def held_by(rank: int, particles: int) -> int:
    """How many particles a rank has with --uneven."""
    spread = particles // 2 + 1
    return particles - particles // 4 + bits(key_of("uneven"), rank) % spread
