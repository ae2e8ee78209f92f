"""What can be told about an executable file by reading it."""

import mmap
import re
import struct
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

_ELF = b"\x7fELF"
_PT_INTERP = 3
_VERSION = re.compile(rb"HDF5 library version: (\d+\.\d+\.\d+)")


@dataclass(frozen=True, slots=True)
class Embedded:
    """HDF5 code that was linked into something else, and its version."""

    file: Path
    version: str


def is_static(file: Path) -> bool:
    """Whether this is an ELF program that no dynamic loader, and so no preloading, works on."""
    try:
        with file.open("rb") as stream:
            head = stream.read(64)
            if len(head) < 64 or head[:4] != _ELF:
                return False
            wide, order = head[4] == 2, "<" if head[5] == 1 else ">"
            where = struct.unpack_from(order + ("Q" if wide else "I"), head, 32 if wide else 28)[0]
            size, count = struct.unpack_from(order + "HH", head, 54 if wide else 42)
            stream.seek(where)
            table = stream.read(size * count)
    except (OSError, ValueError, struct.error):  # ValueError: past what a file can hold
        return False
    if len(table) < size * count or size < 4 or count == 0:
        return False
    kinds = (struct.unpack_from(order + "I", table, at)[0] for at in range(0, size * count, size))
    return _PT_INTERP not in kinds


def find_embedded(files: Iterable[Path]) -> list[Embedded]:
    """The files that contain HDF5, by the version label that HDF5 puts into its data."""
    found = []
    for file in files:
        try:
            with file.open("rb") as stream, mmap.mmap(stream.fileno(), 0, prot=mmap.PROT_READ) as m:
                match = _VERSION.search(m)
                version = match.group(1).decode("ascii") if match else None
        except (OSError, ValueError):  # no file, or an empty one
            continue
        if version is not None:
            found.append(Embedded(file, version))
    return found
