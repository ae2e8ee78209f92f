"""A run as a few numbers, and how far two runs are apart.

The signature of a run is a vector of the features below, each between 0 and 1: shares as they
are, amounts as the logarithm to base 2 of one more than the amount, divided by a stated scale and
cut off at 1. The distance of two runs is the root of the mean square of the features' differences:
0 for two runs that do the same, at most 1. It depends on what a program does, not on how long it
takes, so that a run under another layer or on another machine is near.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

import numpy as np

from headrace.trace.model.seats import READ, WRITE

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from headrace.trace.model.process import Process
    from headrace.trace.model.reader import Trace
    from headrace.trace.model.seats import Seat

Signature = dict[str, float]

_SMALL: Final = 4096  # bytes of a transfer
_SCALES: Final[Mapping[str, float]] = {  # powers of two
    "calls": 30,
    "files": 20,
    "datasets": 24,
    "processes": 20,
    "bytes of a read": 36,
    "bytes of a write": 36,
    "transfers of a dataset": 24,
}


def signature(trace: Trace) -> Signature:
    """The features of a run by their names."""
    sums: dict[str, float] = dict.fromkeys(
        (
            "calls",
            "reads",
            "writes",
            "read",
            "written",
            "small",
            "onward",
            "collective",
            "openings",
        ),
        0.0,
    )
    files: set[str] = set()
    datasets: set[tuple[str, str]] = set()
    for seat in trace.seats:
        process = seat.process
        _add(sums, seat)
        files |= {each["name"] for each in process.files.values()}
        datasets |= _datasets(process)
    transfers = sums["reads"] + sums["writes"]
    moved = sums["read"] + sums["written"]
    amounts = {
        "calls": sums["calls"] / max(len(trace.processes), 1),
        "files": len(files),
        "datasets": len(datasets),
        "processes": len(trace.processes),
        "bytes of a read": _ratio(sums["read"], sums["reads"]),
        "bytes of a write": _ratio(sums["written"], sums["writes"]),
        "transfers of a dataset": _ratio(transfers, len(datasets)),
    }
    return {
        **{name: min(math.log2(1 + amounts[name]) / scale, 1) for name, scale in _SCALES.items()},
        "share of bytes that are read": _ratio(sums["read"], moved),
        "share of calls that are transfers": _ratio(transfers, sums["calls"]),
        "share of calls that open or make": _ratio(sums["openings"], sums["calls"]),
        "share of transfers that are small": _ratio(sums["small"], transfers),
        "share of transfers that go on": _ratio(sums["onward"], transfers),
        "share of transfers that are collective": _ratio(sums["collective"], transfers),
    }


def mean(signatures: Sequence[Signature]) -> Signature:
    """Of several runs, at least one."""
    return {name: sum(each[name] for each in signatures) / len(signatures)
            for name in signatures[0]}  # fmt: skip


def distance(one: Signature, other: Signature) -> float:
    """From 0 to 1."""
    squares = [(one[name] - other[name]) ** 2 for name in one]
    return math.sqrt(sum(squares) / len(squares))


def distances(signatures: Sequence[Signature]) -> NDArray[np.float64]:
    """Of each from each."""
    return np.array([[distance(one, other) for other in signatures] for one in signatures])


def _ratio(part: float, whole: float) -> float:
    return part / whole if whole else 0.0


def _add(sums: dict[str, float], seat: Seat) -> None:
    raw = seat.calls
    names = np.array([*seat.process.callbacks, ""])[raw["callback"]]
    reads, writes = seat.are((READ,)), seat.are((WRITE,))
    transfers = reads | writes
    moved = raw["bytes"]
    sums["calls"] += len(names)
    sums["reads"] += int(reads.sum())
    sums["writes"] += int(writes.sum())
    sums["read"] += int(moved[reads].sum())
    sums["written"] += int(moved[writes].sum())
    sums["small"] += int((moved[transfers] < _SMALL).sum())
    sums["collective"] += int(raw["collective"][transfers].sum())
    for ending in ("_open", "_create"):
        sums["openings"] += int(np.char.endswith(names, ending).sum())
    sums["onward"] += _onward(raw["object"][transfers], raw["file_start"][transfers])


def _onward(objects: NDArray[np.int64], starts: NDArray[np.int64]) -> int:
    """How many transfers begin behind the one before on the same object."""
    order = np.argsort(objects, kind="stable")
    same = np.diff(objects[order]) == 0
    return int((same & (np.diff(starts[order]) > 0)).sum())


def _datasets(process: Process) -> set[tuple[str, str]]:
    return {
        (process.files.get(each["file"], {}).get("name", ""), each["path"])
        for each in process.objects.values()
        if each["kind"] == "dataset"
    }
