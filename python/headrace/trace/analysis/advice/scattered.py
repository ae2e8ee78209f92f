"""Many small writes: to places apart, and of ranks that do not write together."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

import numpy as np

from headrace.trace.analysis.advice.advice import Advice, Code
from headrace.units import count, size

if TYPE_CHECKING:
    from headrace.trace.analysis.advice.data import Data

_MANY: Final = 100  # writes, and rows of them
_MOSTLY: Final = 0.1  # of the writes
_FLUSH: Final = 1  # operation of dataset_specific
_FLUSH_FILE: Final = 0  # and of file_specific
_SMALL: Final = 64 << 10  # bytes of a write
_LOGGED: Final = 2e-6  # seconds that the layer `log` takes for a write of one row
_ROW: Final = 0.4e-6  # seconds for each row of it, with putting it in order
_RECORDED: Final = 0.2e-6  # seconds that recording a request took in the call
_ORDERED: Final = 500e6  # bytes that it appends, sorts and puts in order in a second
_TOGETHER: Final = 1 << 20  # bytes of a request of collective I/O


def _rows(data: Data) -> float:
    """Parts that the writes have in the file."""
    found = 0.0
    for shape in data.shapes(data.writes):
        if shape.get("kind") == "hyperslab" and {"count", "block"} <= shape.keys():
            # What is whole along the last dimension is one row, else each of its blocks is.
            whole = shape["block"][-1:] >= shape["dims"][-1:]
            blocks = 1 if whole else math.prod(shape["block"][:-1])
            found += float(math.prod(shape["count"]) * blocks)
        elif shape.get("kind") in ("points", "union"):
            found += shape.get("elements", 1)
        else:
            found += 1
    return found


def to_log(data: Data) -> Advice | None:
    """Writes in serial files whose rows do not go on where the one before has ended."""
    writes = data.writes
    number = int(writes.sum())
    if data.layout["filters"] or number < 2 or data.parallel or _looked_at(data):
        return None
    moved = int(data.bytes[writes].sum())
    rows = _rows(data)
    made = len(data.requests(0)) + len(data.requests(1))
    if rows < _MANY or moved / rows > _SMALL or made < _MANY or not _apart(data, rows, number):
        return None
    left = number * _LOGGED + rows * _ROW + moved / _ORDERED + made * _RECORDED
    return Advice(
        "scattered_writes",
        data.path,
        f"{count(number)} writes have {count(rows)} rows of {size(moved / rows)} each at places "
        f"apart; HDF5 makes {count(made)} requests for them",
        "Have the layer `log` append them, and put them in order at the close",
        "headrace run --stack log -- PROGRAM",
        float(data.seconds[writes].sum()) - left,
        "the time of the writes, less 2 µs for each, 0.4 µs for each row, and the time to append "
        "and order them at 500 MB/s",
        "none for readers once the program has closed the file",
        data.line,
        stack="log",
    )


def _apart(data: Data, rows: float, number: int) -> bool:
    """Whether most rows begin elsewhere than where the one before ended."""
    if rows > 2 * number:
        return True
    jumps = np.diff(data.of("file_start")[data.writes]) * data.item
    return float((jumps != data.bytes[data.writes][:-1]).mean()) > 0.5


def _looked_at(data: Data) -> bool:
    """Whether the program does what has the log put in order again and again among its writes."""
    among = np.diff(data.writes.astype(np.int8)) != 0
    seat = data.seat
    flushes = seat.are(("file_specific",)) & (seat.calls["operation"] == _FLUSH_FILE)
    others = data.special(_FLUSH) + data.resized + int(flushes.sum())
    return bool(among.sum() + others > _MOSTLY * data.writes.sum())


def together(data: Data) -> Advice | None:
    """Small independent writes of ranks to one file."""
    alone = data.writes & (data.of("collective") == 0)
    number = int(alone.sum())
    made = data.requests(1)
    if not data.parallel or not number or len(made) < _MANY:
        return None
    lengths = data.seat.requests["length"][made]
    if lengths.mean() > _SMALL:
        return None
    after = max(float(lengths.sum()) / _TOGETHER, 1)
    collective = Code("`with dataset.collective:`", "H5Pset_dxpl_mpio").of(python=data.python)
    return Advice(
        "independent_writes",
        data.path,
        f"each rank writes by itself, in {count(number)} calls that make {count(len(made))} "
        f"requests of {size(lengths.mean())}",
        "Have the layer `log` keep what each writes and put it in order at the close. Or let "
        f"ranks write together, by {collective}: that helps where a request takes much longer "
        "than an exchange between ranks",
        "headrace run --stack 'log(mpi_logs=rank)' -- PROGRAM",
        float(data.stored[alone].sum()) * (1 - after / len(made)) - len(made) * _ROW,
        f"the storage's time in these calls, with requests of {size(_TOGETHER)} instead, less "
        "0.4 µs for each that is logged",
        "other ranks see what was written after a flush or a close: the trace's hazards tell "
        "whether that suits the program",
        data.line,
    )
