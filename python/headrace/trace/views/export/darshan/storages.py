"""Darshan's modules POSIX and DXT_POSIX: the requests that reached the storage."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Final

import numpy as np

from headrace.trace.views.export.darshan.counters import (
    Transfers,
    busy,
    grouped,
    of_offsets,
    of_transfers,
    span,
)
from headrace.trace.views.export.darshan.log import DXT, SEGMENT, packed

if TYPE_CHECKING:
    from headrace.trace.model.process import Process
    from headrace.trace.model.seats import Seat
    from headrace.trace.views.export.darshan.counters import Rows, Values
    from headrace.trace.views.export.darshan.log import Contents

_BILLION: Final = 1e9
_READ, _WRITE = 0, 1  # requests


def add_storages(contents: Contents, seat: Seat, rank: int, shift: int) -> None:
    """Adds a record of each file as the lowest driver knows it, to both modules."""
    process, names = seat.process, seat.storages
    opened = _openings(process, names, shift)
    for name, rows in grouped(process.requests, names, "file", shift):
        id_ = contents.id_of(name)
        other = (rows["kind"] != _READ) & (rows["kind"] != _WRITE)
        moves = {key: column[~other] for key, column in rows.items()}
        transfers = Transfers(
            moves["kind"] == _WRITE, moves["begin"], moves["duration"], moves["length"]
        )
        opens = np.array(opened[name], np.int64).reshape(-1, 2)
        values: Values = {
            "OPENS": len(opens),
            "F_META_TIME": busy(rows["begin"][other], rows["duration"][other]),
            **span("OPEN", opens[:, 0], opens[:, 1]),
            **of_transfers("POSIX", transfers),
            **of_offsets(transfers, moves["offset"]),
        }
        contents.records["POSIX"].append(packed("POSIX", id_, rank, values))
        if len(transfers.write):
            host = str(process.about.get("host", ""))
            contents.records["DXT_POSIX"].append(_each(id_, rank, host, transfers, moves))


def _each(id_: int, rank: int, host: str, transfers: Transfers, moves: Rows) -> bytes:
    """A record of DXT_POSIX: all writes, then all reads."""
    segments = np.zeros(len(moves["begin"]), SEGMENT)
    segments["offset"], segments["length"] = moves["offset"], moves["length"]
    segments["start"], segments["end"] = moves["begin"] / _BILLION, moves["end"] / _BILLION
    head = np.zeros(1, DXT)
    head["id"], head["rank"] = id_, rank
    head["host"] = host.encode(errors="replace")[:63]
    head["writes"] = np.count_nonzero(transfers.write)
    head["reads"] = np.count_nonzero(~transfers.write)
    parts = (head, segments[transfers.write], segments[~transfers.write])
    return b"".join(each.tobytes() for each in parts)


def _openings(
    process: Process, names: dict[int, str], shift: int
) -> dict[str, list[tuple[int, int]]]:
    """Begins and ends of the calls that opened storages, by their names; not the parent's."""
    raw = process.calls
    ends = zip(raw["begin"].tolist(), (raw["begin"] + raw["duration"]).tolist(), strict=True)
    calls = dict(zip(raw["number"].tolist(), ends, strict=True))
    found = defaultdict(list)
    for id_, name in names.items():
        call = process.storages[id_]["call"]
        if id_ > process.about.get("known_ids", 0) and call in calls:
            begin, end = calls[call]
            found[name].append((begin + shift, end + shift))
    return found
