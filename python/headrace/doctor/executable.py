"""What can be told about an executable file by reading it."""

import mmap
import re
import struct
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import BinaryIO, Final, NamedTuple

_ELF: Final = b"\x7fELF"
_PT_LOAD, _PT_DYNAMIC, _PT_INTERP = 1, 2, 3
_DT_STRTAB, _DT_STRSZ = 5, 10
_VERSION: Final = re.compile(rb"HDF5 library version: (\d+\.\d+\.\d+)")
_MARK: Final = b"\0H5get_libversion\0"


class Embedded(NamedTuple):
    """HDF5 code that was linked into something else, and its version.

    Attributes:
        exported: Whether plug-ins can reach its functions.
    """

    file: Path
    version: str
    exported: bool = False


class _Segment(NamedTuple):
    kind: int
    offset: int
    address: int
    size: int


def is_static(file: Path) -> bool:
    """Whether this is an ELF program that no dynamic loader, and so no preloading, works on."""
    try:
        with file.open("rb") as stream:
            kinds = [segment.kind for segment in _segments(stream)]
    except (OSError, ValueError, struct.error):  # ValueError: past what a file can hold
        return False
    return bool(kinds) and _PT_INTERP not in kinds


def loader_of(file: Path) -> Path | None:
    """The dynamic loader that an ELF program asks for."""
    try:
        with file.open("rb") as stream:
            for segment in _segments(stream):
                if segment.kind == _PT_INTERP:
                    name = _read(stream, segment.offset, segment.size)
                    return Path(name.rstrip(b"\0").decode("utf-8", "surrogateescape"))
    except (OSError, ValueError, struct.error):
        pass
    return None


def find_embedded(files: Iterable[Path]) -> list[Embedded]:
    """The files that contain HDF5, by the version label that HDF5 puts into its data."""
    found = []
    for file in files:
        try:
            with file.open("rb") as stream, mmap.mmap(stream.fileno(), 0, prot=mmap.PROT_READ) as m:
                match = _VERSION.search(m)
                version = match.group(1).decode("ascii") if match else None
                exported = version is not None and _exports_hdf5(stream)
        except (OSError, ValueError):  # no file, or an empty one
            continue
        if version is not None:
            found.append(Embedded(file, version, exported))
    return found


def _exports_hdf5(stream: BinaryIO) -> bool:
    """Of a file that contains HDF5: whether its functions are among the dynamic names."""
    try:
        segments = list(_segments(stream))
        dynamic = next(segment for segment in segments if segment.kind == _PT_DYNAMIC)
        table = _read(stream, dynamic.offset, dynamic.size)
        entries = dict(struct.iter_unpack("<QQ", table[: len(table) // 16 * 16]))
        place, size = entries[_DT_STRTAB], entries[_DT_STRSZ]
        load = next(
            segment
            for segment in segments
            if segment.kind == _PT_LOAD and 0 <= place - segment.address < segment.size
        )
        return _MARK in _read(stream, load.offset + place - load.address, size)
    except (OSError, ValueError, KeyError, StopIteration, struct.error):
        return False


def _segments(stream: BinaryIO) -> Iterator[_Segment]:
    """Of an ELF file; nothing of others, nor of damaged ones."""
    head = _read(stream, 0, 64)
    if len(head) < 64 or head[:4] != _ELF:
        return
    wide, order = head[4] == 2, "<" if head[5] == 1 else ">"
    where = struct.unpack_from(order + ("Q" if wide else "I"), head, 32 if wide else 28)[0]
    size, count = struct.unpack_from(order + "HH", head, 54 if wide else 42)
    table = _read(stream, where, size * count)
    row = struct.Struct(order + ("IIQQQQ" if wide else "IIIIII"))
    if len(table) < size * count or size < row.size:
        return
    for at in range(0, size * count, size):
        if wide:
            kind, _, offset, address, _, length = row.unpack_from(table, at)
        else:
            kind, offset, address, _, length, _ = row.unpack_from(table, at)
        yield _Segment(kind, offset, address, length)


def _read(stream: BinaryIO, offset: int, size: int) -> bytes:
    stream.seek(offset)
    return stream.read(size)
