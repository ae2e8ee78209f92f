"""The segments that a trace file is made of; docs/formats/trace.md has them to the byte."""

from __future__ import annotations

import struct
import sys
import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

FACTS: Final = 0
CALLS: Final = 1
REQUESTS: Final = 2

_MAGIC: Final = b"HRTS"
_HEADER: Final = struct.Struct("<4sIIIII")
_CHECKED_FROM: Final = 8
_MOST: Final = 1 << 28  # bytes of one segment's contents
_BITS: Final = 7
_LONGEST: Final = 10  # bytes of a number


class DamagedError(Exception):
    """Bytes that are no whole segment; the message says what is wrong with them."""


@dataclass(frozen=True, slots=True)
class Segment:
    """Rows of one of the tables, or lines of JSON."""

    table: int
    rows: int
    contents: bytes
    at: int  # where it begins in the file, in bytes


def segments(data: bytes) -> Iterator[Segment]:
    """All of a file, in order; raises DamagedError where one is cut off or altered."""
    at = 0
    while at < len(data):
        segment, at = _segment(data, at)
        yield segment


def _segment(data: bytes, at: int) -> tuple[Segment, int]:
    if len(data) - at < _HEADER.size:
        raise DamagedError(f"it ends amid the header of a segment at byte {at}")
    magic, checksum, table, rows, size, stored = _HEADER.unpack_from(data, at)
    if magic != _MAGIC:
        raise DamagedError(f"there is no segment at byte {at}")
    begin = at + _HEADER.size
    end = begin + stored
    if end > len(data):
        raise DamagedError(f"it ends amid the segment at byte {at}")
    if zlib.crc32(data[at + _CHECKED_FROM : end]) != checksum:
        raise DamagedError(f"the checksum of the segment at byte {at} does not match")
    if size > _MOST:
        raise DamagedError(f"the segment at byte {at} is too large")
    return Segment(table, rows, _decompressed(data[begin:end], size, at), at), end


def _decompressed(stored: bytes, size: int, at: int) -> bytes:
    frame = zstd.ZstdDecompressor()
    try:
        contents = frame.decompress(stored, size + 1)  # no more than that, whatever it holds
    except zstd.ZstdError as error:
        raise DamagedError(f"the segment at byte {at} cannot be decompressed: {error}") from None
    if len(contents) != size or not frame.eof or frame.unused_data:
        raise DamagedError(f"the segment at byte {at} cannot be decompressed: its size is wrong")
    return contents


def columns(segment: Segment, width: int) -> list[NDArray[np.int64]]:
    """The numbers of a table, column by column; raises DamagedError."""
    try:
        return list(_columns(segment, width))
    except DamagedError as error:
        raise DamagedError(f"the segment at byte {segment.at} {error}") from None


def _columns(segment: Segment, width: int) -> Iterator[NDArray[np.int64]]:
    begin = 4 * width
    if width == 0:
        raise DamagedError("has rows before it is told what is in them")
    if len(segment.contents) < begin:
        raise DamagedError("is too short for its columns")
    sizes = struct.unpack_from(f"<{width}I", segment.contents)
    if begin + sum(sizes) != len(segment.contents):
        raise DamagedError("is not as long as its columns")
    for size in sizes:
        yield _numbers(segment.contents[begin : begin + size], segment.rows)
        begin += size


def _numbers(packed: bytes, rows: int) -> NDArray[np.int64]:
    """Varints, each of which tells the difference from the number before it."""
    raw = np.frombuffer(packed, np.uint8)
    ends = np.flatnonzero(raw < 0x80)
    if len(ends) != rows or rows == 0 or ends[-1] != len(raw) - 1:
        raise DamagedError("has a column with another number of rows")
    starts = np.concatenate(([0], ends[:-1] + 1))
    lengths = ends - starts + 1
    if lengths.max() > _LONGEST:
        raise DamagedError("has a number of more than 64 bits")
    within = np.arange(len(raw)) - np.repeat(starts, lengths)
    parts = (raw & 0x7F).astype(np.uint64) << (_BITS * within).astype(np.uint64)
    folded = np.add.reduceat(parts, starts)
    one = np.uint64(1)
    differences = (folded >> one) ^ (np.uint64(0) - (folded & one))
    return np.cumsum(differences, dtype=np.uint64).view(np.int64)
