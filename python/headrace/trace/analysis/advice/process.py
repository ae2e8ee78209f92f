"""What rules ask of a process: its language and libraries, its lines, h5py's time."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np

from headrace.trace.model.process import line_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from headrace.trace.model.seats import Seat

BILLION: Final = 1e9
BETWEEN: Final = 300e-6  # seconds: h5py is not longer between two calls
_START_SWMR: Final = 13  # operation of file_optional
_NETCDF_CACHE: Final = 16 << 20  # bytes


def meet(one: Seat, other: Seat) -> bool:
    """Whether two processes use HDF5 in the same part of the run."""
    spans = []
    for each in (one, other):
        begin, offset = each.calls["begin"], each.process.clock_offset
        if not len(begin):
            return False
        end = int((begin + each.calls["duration"]).max())
        spans.append((int(begin.min()) + offset, end + offset))
    return spans[0][0] <= spans[1][1] and spans[1][0] <= spans[0][1]


def is_summed(seat: Seat) -> bool:
    """Whether rows stand for several calls, as with `level=profile`."""
    return bool((seat.calls["count"] > 1).any())


def is_python(seat: Seat) -> bool:
    """Whether the process runs a program in Python."""
    command = seat.process.about.get("command") or [""]
    lines = seat.process.lines.values()
    return "python" in Path(command[0]).name or any(".py" in str(e["source"]) for e in lines)


def is_netcdf(seat: Seat) -> bool:
    """Whether netCDF's library calls HDF5 for it: that has chunk caches of its own."""
    if "netcdf" in Path(str(seat.process.about.get("library", ""))).as_posix().lower():
        return True
    names = {str(each["is"]) for each in seat.process.names.values()}
    python = any("/h5netcdf/" in str(e["source"]) for e in seat.process.lines.values())
    return "_NCProperties" in names and not python


def lets_others_read(seat: Seat) -> bool:
    """Whether it writes for readers that look at the file meanwhile (SWMR)."""
    calls = seat.are(("file_optional",)) & (seat.calls["operation"] == _START_SWMR)
    return bool(calls.any())


def default_cache(seat: Seat, chunk: int) -> int:
    """Bytes of the chunk cache that each dataset has where the program asks for none."""
    if is_netcdf(seat):
        return max(_NETCDF_CACHE, min(10 * chunk, 4 * _NETCDF_CACHE))
    major = str(seat.process.about.get("hdf5", "")).partition(".")[0]
    return 8 << 20 if major.isdecimal() and int(major) >= 2 else 1 << 20


def line_with_most(seat: Seat, rows: NDArray[np.int64]) -> str:
    """Of the program, that of most of the time of these calls; empty where none is known."""
    lines, places = np.unique(seat.calls["line"][rows], return_inverse=True)
    spent = np.bincount(places, seat.own[rows], len(lines))
    for place in np.argsort(-spent).tolist():
        fact = seat.process.lines.get(int(lines[place]))
        if fact is not None and "/h5py/" not in str(fact["source"]):
            return line_of(fact)
    return ""


def spent_around(seat: Seat, rows: NDArray[np.int64]) -> float:
    """The sum of `times_around` of these calls."""
    return float(times_around(seat)[rows].sum())


def times_around(seat: Seat) -> NDArray[np.float64]:
    """Seconds of each call and, of a program in Python, of h5py between it and the next.

    What is longer than h5py takes for a call is the program's own.
    """
    if not is_python(seat) or is_summed(seat):
        return seat.own
    after = np.zeros(len(seat.own))
    after[seat.order] = np.where(seat.gaps < BETWEEN, seat.gaps, 0)
    return seat.own + after
