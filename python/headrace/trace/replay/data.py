"""Values in place of the program's: none of those were recorded."""

from __future__ import annotations

import ctypes
import functools
from typing import TYPE_CHECKING, Any, Final

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

_RUN: Final = 4096  # bytes within which a part is random and the rest the same
# Of eight bits six are random, so that no number is infinite; they compress to three quarters.
_NEW: Final = 1 << 17  # bytes from which on the system is asked for memory
_MASK: Final = 0x3F
_RANDOM: Final = 0.75
_POOL: Final = np.random.default_rng(22).integers(0, _MASK + 1, 1 << 20, np.uint8)


def values(size: int, ratio: float) -> NDArray[np.uint8]:
    """So many bytes, of which a filter makes about `ratio`; the same each time, read-only."""
    return _made(size, ratio) if size <= len(_POOL) else _values(size, ratio)


def _values(size: int, ratio: float) -> NDArray[np.uint8]:
    repeated = -(-size // len(_POOL))
    data = np.tile(_POOL, max(repeated, 1))[: -(-size // _RUN) * _RUN or _RUN].copy()
    if len(data) % _RUN:
        data = np.concatenate([data, np.zeros(_RUN - len(data) % _RUN, np.uint8)])
    kept = int(_RUN * min(ratio / _RANDOM, 1.0))
    data.reshape(-1, _RUN)[:, kept:] = 0
    return data[:size]


_made = functools.lru_cache(maxsize=16)(_values)


def new_room(size: int) -> Any:
    """Memory to read into; where it is large, HDF5 is the first to touch its pages."""
    if size < _NEW:
        return ctypes.create_string_buffer(size)
    return np.empty(size, np.uint8).ctypes.data_as(ctypes.c_void_p)


class _Sequence(ctypes.Structure):
    """HDF5's hvl_t."""

    _fields_ = (("length", ctypes.c_size_t), ("first", ctypes.c_void_p))


def strings(lengths: Sequence[int], elements: int) -> Any:
    """An array of pointers to texts of such lengths; empty ones follow. Keep it for the call."""
    texts = [b"x" * length for length in lengths[:elements]]
    return (ctypes.c_char_p * max(elements, 1))(*texts, *[b""] * (elements - len(texts)))


def sequences(lengths: Sequence[int], elements: int, size: int) -> Any:
    """An array of HDF5's sequences with so many elements of zeros. Keep both for the call."""
    zeros = ctypes.create_string_buffer(max(lengths, default=0) * size + 1)
    first = ctypes.cast(zeros, ctypes.c_void_p).value
    array: Any = (_Sequence * max(elements, 1))()
    for number, length in enumerate(lengths[:elements]):
        array[number] = _Sequence(length, first)
    array.kept = zeros
    return array
