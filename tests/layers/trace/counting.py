"""What others count of the programs that are traced: the layer `model`, and strace."""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from headrace.trace import Trace

Piece = tuple[int, int, int]  # of a file: kind of request, offset, length
READ, WRITE = 0, 1
STRACE = ("strace", "-f", "--seccomp-bpf", "-y", "-s", "0", "-e", "trace=pread64,pwrite64", "-o")
_CALL = re.compile(
    r"p(?P<kind>read|write)64\(\d+<(?P<path>.+?)>, .*?, (?P<length>\d+), (?P<offset>\d+)\) += "
    r"(?P<done>\d+)"
)
# docs/formats/ledger.md
_HEADER = np.dtype(
    [("magic", "S8"), ("version", "<u4"), ("size", "<u4"), ("records", "<u8"), ("rank", "<i4"),
     ("ranks", "<i4"), ("pid", "<u4"), ("opened", "<u8"), ("name", "<u4"), ("host", "<u4"),
     ("rest", "<u4")]
)  # fmt: skip
_RECORD = np.dtype(
    [("offset", "<u8"), ("length", "<u8"), ("span", "<u8"), ("begin", "<u8"), ("duration", "<u8"),
     ("call", "<u4"), ("kind", "u1"), ("flags", "u1"), ("type", "u1"), ("rest", "u1")]
)  # fmt: skip


def traced(trace: Trace) -> dict[tuple[int, str], list[Piece]]:
    """The requests that succeeded, by process and file, in the order in which they ended."""
    found: dict[tuple[int, str], list[Piece]] = defaultdict(list)
    for seat in trace.seats:
        rows = seat.requests["failed"] == 0
        columns = (
            seat.requests[name][rows].tolist() for name in ("file", "kind", "offset", "length")
        )
        for file, *piece in zip(*columns, strict=True):
            kind, offset, length = piece
            name = Path(seat.storages[file]).name
            found[seat.process.about["pid"], name].append((kind, offset, length))
    return dict(found)


def in_ledgers(folder: Path) -> dict[tuple[int, str], list[Piece]]:
    """The same, as the layer `model` has counted."""
    ledgers = [_ledger(path.read_bytes()) for path in folder.glob("*.ledger")]
    found: dict[tuple[int, str], list[Piece]] = defaultdict(list)
    for _, pid, name, pieces in sorted(ledgers):
        found[pid, name] += pieces
    return dict(found)


def _ledger(data: bytes) -> tuple[int, int, str, list[Piece]]:
    header = np.frombuffer(data, _HEADER, 1)[0]
    begin = _HEADER.itemsize + int(header["name"])
    name = data[_HEADER.itemsize : begin].decode()
    records = np.frombuffer(data[begin + int(header["host"]) :], _RECORD)
    pieces = [(int(each["kind"]), int(each["offset"]), int(each["length"])) for each in records]
    return int(header["opened"]), int(header["pid"]), Path(name).name, pieces


def moved(pieces: Mapping[tuple[int, str], list[Piece]]) -> dict[str, list[Piece]]:
    """Reads and writes of something, by the file alone."""
    return {
        name: kept
        for (_, name), each in pieces.items()
        if (kept := [piece for piece in each if piece[0] in (READ, WRITE) and piece[2]])
    }


def in_system_calls(told: Path, folder: Path) -> dict[str, list[Piece]]:
    """What strace has seen of files below the folder, by their names.

    Where a file ends amid what is read, the driver asks for the rest again: that is one request.
    """
    found: dict[str, list[Piece]] = defaultdict(list)
    rest = (0, 0)
    for line in told.read_text().splitlines():
        call = _CALL.search(line)
        if call is None or not Path(call["path"]).is_relative_to(folder):
            continue
        length, offset, done = (int(call[name]) for name in ("length", "offset", "done"))
        again = call["kind"] == "read" and (offset, length) == rest
        rest = (offset + done, length - done) if done < length else (0, 0)
        if not again:
            kind = READ if call["kind"] == "read" else WRITE
            found[Path(call["path"]).name].append((kind, offset, length))
    return dict(found)


def callbacks_in(report: Path) -> Counter[str]:
    """How often HDF5 has called the connector `trace`, as the base of all layers counts it."""
    counted: Counter[str] = Counter()
    for line in report.read_text().splitlines():
        event = json.loads(line)
        if event["event"] == "counts" and (event["name"], event["seat"]) == (
            "headrace_trace",
            "vol",
        ):
            counted.update(event["calls"])
    return counted
