"""Ledgers as docs/formats/ledger.md has them: read, written, cut down, and made of rank logs."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Records: TypeAlias = NDArray[Any]
RECORD = np.dtype([
    ("offset", "<u8"), ("length", "<u8"), ("span", "<u8"), ("begin", "<u8"), ("duration", "<u8"),
    ("call", "<u4"), ("kind", "u1"), ("flags", "u1"), ("type", "u1"), ("zero", "u1"),
])  # fmt: skip
READ, WRITE, METADATA = 0, 1, 1
_HEADER = struct.Struct("<8sIIQiiIQIII")
_HOST = b"model"
_BLOCK = 50  # requests in a row that are kept together where some are left out

# What the layer does with the log of a rank; see src/engine/log/writer.cpp and its staging.
_PAGE, _GATHERED = 64 << 10, 1 << 20
_HEAD = 32  # of a segment
_OWNER = 28


def read(path: Path) -> tuple[int, Records]:
    """The rank, and its requests."""
    data = path.read_bytes()
    head = _HEADER.unpack_from(data)
    return int(head[4]), np.frombuffer(data, RECORD, offset=_HEADER.size + head[8] + head[9])


def write(path: Path, file: str, rank: int, records: Records) -> None:
    """Of a closed file."""
    name = file.encode()
    head = _HEADER.pack(b"HRLEDGER", 1, RECORD.itemsize, len(records), rank, -1, rank + 1, 0,
                        len(name), len(_HOST), 0)  # fmt: skip
    path.write_bytes(head + name + _HOST + records.tobytes())


def made(kind: int, pieces: Iterable[tuple[int, int]], flags: int = 0) -> Records:
    """Requests in this order, from (offset, length)."""
    given = np.array(list(pieces), np.uint64).reshape(-1, 2)
    records = np.zeros(len(given), RECORD)
    records["offset"], records["length"] = given[:, 0], given[:, 1]
    records["span"] = records["length"]
    records["begin"] = np.arange(len(given))
    records["call"] = np.arange(1, len(given) + 1)
    records["kind"], records["flags"] = kind, flags
    return records


def sampled(records: Records, most: int) -> Records:
    """About so many of the requests: short rows of them, evenly spread."""
    if len(records) <= most:
        return records
    rows = max(1, most // _BLOCK)
    starts = np.linspace(0, len(records) - _BLOCK, rows).astype(np.int64)
    chosen = np.unique((starts[:, None] + np.arange(_BLOCK)).ravel())
    kept: Records = records[chosen]
    return kept


def gathered(records: Records) -> Records:
    """As the best of caches would: what ascends within a MiB is one request."""
    plain = (records["kind"] == WRITE) & (records["flags"] & METADATA == 0)
    data, rest = records[plain], records[~plain]
    if len(data) == 0:
        return records
    offsets = data["offset"].astype(np.int64)
    begins = np.append(True, (np.diff(offsets >> 20) != 0) | (np.diff(offsets) < 0))
    first = np.flatnonzero(begins)
    joined: Records = data[first].copy()
    joined["length"] = np.add.reduceat(data["length"], first)
    joined["span"] = joined["length"]
    both: Records = np.concatenate([joined, rest])
    return both[np.argsort(both["begin"], kind="stable")]


def appended(log: Mapping[str, Any]) -> Records:
    """What a rank writes to its log, of which `headrace-log` has told."""
    end = int(log["size"] - log["index_bytes"] - _HEAD)
    pieces = [(at, min(_GATHERED, end - at)) for at in range(_PAGE, end, _GATHERED)]
    # The first page waits for the header of the segment, the index for all data.
    pieces += [(0, min(_PAGE, end)), (end, int(log["size"]) - end)]
    # Moves nothing, but says how long the file is: no two logs share a stripe.
    return made(WRITE, [*pieces, (-(-int(log["size"]) // _GATHERED) * _GATHERED, 0)])


def index(log: Mapping[str, Any], cached: bool) -> Records:
    """What a rank reads to know the index of a log.

    A cache makes two requests of what belongs together.
    """
    size, length = int(log["size"]), int(log["index_bytes"])
    row = [(0, _HEAD), (_HEAD, _OWNER), (_HEAD + _OWNER, _HEAD),
           (size - length - _HEAD, _HEAD), (size - length, length)]  # fmt: skip
    if cached:
        row = [(0, 2 * _HEAD + _OWNER), (size - length - _HEAD, _HEAD + length)]
    return made(READ, row, METADATA)


def pieces(log: Mapping[str, Any], turns: int) -> list[list[tuple[int, int]]]:
    """Where each dataset's writes are in a log, made in so many turns over all datasets."""
    turn = int(log["data_bytes"]) // turns
    before = 2 * _HEAD + _OWNER
    found = []
    for each in log["datasets"]:
        length = int(each["bytes"]) // max(1, int(each["writes"]))
        found.append([(before + number * turn, length) for number in range(int(each["writes"]))])
        before += length
    return found


def shares(
    logs: Sequence[Mapping[str, Any]], written: Sequence[int], turns: int, cached: bool
) -> dict[tuple[int, int], Records]:
    """What ranks read of logs when they settle, by (rank, log): in parts as they write the file.

    With a cache, and reading ahead, all of a log once.
    """
    found = {}
    ends = np.cumsum([0, *written]) / max(1, sum(written))
    for number, log in enumerate(logs):
        every = [piece for dataset in pieces(log, turns) for piece in dataset]
        cuts = np.rint(ends * len(every)).astype(int)
        size = int(log["size"])
        whole = [(at, min(_GATHERED, size - at)) for at in range(0, size, _GATHERED)]
        for rank in range(len(written)):
            mine = every[cuts[rank] : cuts[rank + 1]]
            found[rank, number] = made(READ, whole if mine and cached else mine)
    return found
