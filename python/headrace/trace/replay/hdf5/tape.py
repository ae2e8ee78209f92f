"""Calls that are made later, one right after the other, in C.

Between calls that Python makes, the processor's caches fill with Python, and HDF5 takes half as
long again for a call of some microseconds.
"""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any, Final

from headrace.plugins import library_dir

if TYPE_CHECKING:
    from collections.abc import Sequence

_LIBRARY: Final = "libheadrace_tape.so"
_MOST_ARGUMENTS: Final = 12
_MOST_CALLS: Final = 4096
_MOST_BYTES: Final = 64 << 20  # that calls wait to read or write


class Returned(int):
    """What a call on a tape returns; to be compared with 0 it passes for a success before."""

    place: int  # on the tape
    known: int | None = None

    def now(self) -> int:
        """What it has returned; 0 while the tape has not been played."""
        return int(self) if self.known is None else self.known


class _Argument(ctypes.Structure):
    _fields_ = (("value", ctypes.c_int64), ("source", ctypes.c_int64))


class _Taped(ctypes.Structure):
    _fields_ = (
        ("function", ctypes.c_void_p),
        ("is_long", ctypes.c_int64),
        ("arguments", _Argument * _MOST_ARGUMENTS),
    )


class Tape:
    """Calls of whole numbers, pointers and what calls before have returned. One thread."""

    def __init__(self) -> None:
        """Loads the library that plays it; PluginError where it is not installed."""
        self._play = ctypes.CDLL(str(library_dir() / _LIBRARY)).headrace_play
        self._play.restype = None
        self._calls = (_Taped * _MOST_CALLS)()
        self._results = (ctypes.c_int64 * _MOST_CALLS)()
        self._returned: list[Returned] = []
        self._kept: list[Any] = []  # what the calls point to
        self._bytes = 0

    def add(self, function: int, arguments: Sequence[Any], *, is_long: bool) -> Returned:
        """Puts a call of the function at that address on the tape. It keeps the arguments."""
        if len(self._returned) == _MOST_CALLS or self._bytes > _MOST_BYTES:
            self.play()
        call = self._calls[len(self._returned)]
        call.function, call.is_long = function, is_long
        for number, each in enumerate(arguments):
            call.arguments[number] = self._argument(each)
        returned = Returned(0)
        returned.place = len(self._returned)
        self._returned.append(returned)
        return returned

    def holds(self, size: int) -> None:
        """Calls on the tape point to so many bytes more."""
        self._bytes += size

    def _argument(self, value: Any) -> tuple[int, int]:
        if isinstance(value, Returned) and value.known is None:
            return 0, value.place
        if isinstance(value, int):
            return now(value), -1
        if value is None:
            return 0, -1
        self._kept.append(value)
        if isinstance(value, bytes):
            value = ctypes.c_char_p(value)
        if isinstance(value, ctypes.Array):
            return ctypes.addressof(value), -1
        if isinstance(value, ctypes.c_char_p | ctypes.c_void_p):
            return ctypes.cast(value, ctypes.c_void_p).value or 0, -1
        return value.value, -1

    def play(self) -> None:
        """Makes all calls; what they have returned is known from then on."""
        count = len(self._returned)
        self._play(self._calls, ctypes.c_size_t(count), self._results)
        for returned, result in zip(self._returned, self._results, strict=False):
            returned.known = result
        self._returned.clear()
        self._kept.clear()
        self._bytes = 0


def now(value: int) -> int:
    """The number itself, or what a call has returned."""
    return value.now() if isinstance(value, Returned) else value
