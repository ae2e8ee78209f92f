"""A trace as a folder of ledgers, which `headrace-model` plays on other storage and more ranks.

They are those that the layer `model` would have written in the place of the trace's lowest driver:
one of each file that a process made requests of (docs/formats/ledger.md).
"""

from __future__ import annotations

from pathlib import PurePath
from typing import TYPE_CHECKING, Final

import numpy as np

from headrace.errors import FileError
from headrace.trace.views.output import private, replacing_folder

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from numpy.typing import NDArray

    from headrace.trace.model.process import Numbers
    from headrace.trace.model.reader import Trace
    from headrace.trace.model.seats import Seat

HEADER: Final = np.dtype(
    [("magic", "S8"), ("version", "<u4"), ("record", "<u4"), ("records", "<u8"), ("rank", "<i4"),
     ("ranks", "<i4"), ("pid", "<u4"), ("opened", "<u8"), ("name", "<u4"), ("host", "<u4"),
     ("rest", "<u4")]
)  # fmt: skip
RECORD: Final = np.dtype(
    [("offset", "<u8"), ("length", "<u8"), ("span", "<u8"), ("begin", "<u8"), ("duration", "<u8"),
     ("call", "<u4"), ("kind", "u1"), ("flags", "u1"), ("type", "u1"), ("rest", "u1")]
)  # fmt: skip
_SUFFIX: Final = ".ledger"
_METADATA, _COLLECTIVE, _SCATTERED = 1, 2, 4
_VALUES: Final = (3, 4)  # H5FD_MEM_DRAW, H5FD_MEM_GHEAP
_UNKNOWN: Final = 99
_MOST_NAME: Final = 65535
_LAST_PART: Final = 100  # bytes of it in a ledger's name


def write(trace: Trace, path: Path) -> None:
    """Replaces a folder of ledgers, and nothing else; raises FileError.

    A trace of sums is refused: it does not have the requests one by one.
    """
    if any((each.requests["count"] > 1).any() for each in trace.processes):
        raise FileError(f"{trace.path}: has sums of requests, as with level=profile; no ledger")
    with replacing_folder(path, lambda name: name.endswith(_SUFFIX)) as folder:
        number = 0
        for seat in trace.seats:
            begins = dict(zip(*(seat.process.calls[name].tolist() for name in ("number", "begin")),
                              strict=True))  # fmt: skip
            order = np.argsort(seat.requests["file"], kind="stable")
            ids, first = np.unique(seat.requests["file"][order], return_index=True)
            for id_, rows in zip(ids.tolist(), np.split(order, first[1:]), strict=False):
                number += 1
                host = str(seat.process.about.get("host", ""))
                last = PurePath(seat.storages[id_]).name.encode()[:_LAST_PART]
                parts = last.decode(errors="ignore"), host, seat.process.about["pid"], number
                name = ".".join(map(str, parts)) + _SUFFIX
                with open(folder / name, "wb", opener=private) as out:
                    out.writelines(_ledger(seat, id_, rows, begins))


def _ledger(
    seat: Seat, id_: int, rows: NDArray[np.int64], begins: Mapping[int, int]
) -> tuple[bytes, ...]:
    """`begins`: of all calls, by their numbers."""
    about, storage = seat.process.about, seat.process.storages[id_]
    raw = {name: values[rows] for name, values in seat.requests.items()}
    raw, calls = _by_call(raw)
    first = int(raw["begin"].min())  # on the clock of the requests, as that of the opening call
    opened = min(first, begins.get(storage["call"], first) if storage["call"] else first)
    good = raw["failed"] == 0
    records = np.zeros(int(good.sum()), RECORD)
    for name in ("offset", "length", "span", "duration", "kind"):
        records[name] = raw[name][good]
    records["begin"] = raw["begin"][good] - opened
    records["call"] = calls[good]
    types = raw["type"][good]
    records["type"] = np.where(types == _UNKNOWN, 0, types)
    records["flags"] = (
        np.where(np.isin(types, (*_VALUES, _UNKNOWN)), 0, _METADATA)
        + np.where(raw["collective"][good] != 0, _COLLECTIVE, 0)
        + np.where(records["span"] > records["length"], _SCATTERED, 0)
    )
    name = storage["name"].encode()[:_MOST_NAME]
    host = str(about.get("host", "")).encode()[:_MOST_NAME]
    header = np.zeros(1, HEADER)
    header["magic"], header["version"], header["record"] = b"HRLEDGER", 1, RECORD.itemsize
    header["records"], header["pid"] = len(records), about["pid"]
    header["rank"], header["ranks"] = storage["rank"], storage.get("ranks", -1)
    header["opened"] = opened + seat.process.clock_offset
    header["name"], header["host"] = len(name), len(host)
    return header.tobytes(), name, host, records.tobytes()


def _by_call(raw: Numbers) -> tuple[Numbers, NDArray[np.int64]]:
    """Rows with the pieces of each call of the driver together, and the number of that call.

    Threads end their calls one after the other, but may tell of their pieces by turns. Collective
    calls have numbers of their own, failed ones have some, too.
    """
    keys = np.stack([raw["thread"], raw["begin"], raw["kind"]], axis=1)
    _, first, inverse = np.unique(keys, axis=0, return_index=True, return_inverse=True)
    order = np.argsort(first[inverse.reshape(-1)], kind="stable")
    raw = {name: values[order] for name, values in raw.items()}
    begins = np.isin(order, first)
    together = raw["collective"] != 0
    numbers = np.where(together, np.cumsum(begins & together), np.cumsum(begins & ~together))
    return raw, numbers
