"""What each call was the first to read of a file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from headrace.trace.model.seats import Seat

_READ: Final = 0  # the kind of a request
_RAW, _HEAP = 3, 4  # H5FD_MEM_DRAW, H5FD_MEM_GHEAP


def first_reads(seat: Seat) -> dict[int, tuple[list[int], int]]:
    """By number of a call: the parts that no other has read before, of raw data, and of the heap.

    There is one of the number 0 where worker threads have read, of no call that is known.
    """
    table, calls = seat.requests, seat.calls
    rows = np.flatnonzero((table["kind"] == _READ) & np.isin(table["type"], (_RAW, _HEAP)))
    rows = rows[np.argsort(table["begin"][rows], kind="stable")]
    owners = seat.owner[rows]
    numbers = np.where(owners >= 0, calls["number"][owners], 0).tolist()
    columns = (table[key][rows].tolist() for key in ("type", "file", "offset", "length"))
    read: set[tuple[int, int]] = set()
    found: dict[int, tuple[list[int], int]] = {}
    for number, type_, file, offset, length in zip(numbers, *columns, strict=True):
        if (file, offset) in read:
            continue
        read.add((file, offset))
        stored, heap = found.get(number, ([], 0))
        if type_ == _RAW:
            stored.append(length)
        else:
            heap += length
        found[number] = (stored, heap)
    return found
