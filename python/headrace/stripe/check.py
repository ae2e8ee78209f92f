"""Whether the pieces of a set make up a whole HDF5 file."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from headrace.stripe.sets import StripedSet

_SIGNATURE: Final = b"\x89HDF\r\n\x1a\n"
_FARTHEST: Final = 64 << 20  # bytes of a user block, a power of two from 512 on
_LENGTH: Final = 64  # bytes that a superblock's addresses are in


def fault_of(found: StripedSet) -> str:
    """What is wrong, in words; empty where a superblock was found and nothing is missing.

    Superblock: HDF5 File Format Specification, versions 0 to 3.
    """
    at = 0
    while at < min(found.size, _FARTHEST):
        head = read(found, at, _LENGTH)
        if head.startswith(_SIGNATURE):
            return _fault(found, at, head)
        at = 2 * at if at else 512
    return "no HDF5 signature is in it"


def read(found: StripedSet, at: int, length: int) -> bytes:
    """Bytes of the file; zeros for what its subfiles do not have, as HDF5 reads them."""
    parts = []
    while length > 0:
        stripe, inside = divmod(at, found.layout.stripe)
        row, number = divmod(stripe, found.layout.count)
        size = min(length, found.layout.stripe - inside)
        fd = os.open(found.subfiles[number], os.O_RDONLY | os.O_CLOEXEC)
        try:
            data = os.pread(fd, size, row * found.layout.stripe + inside)
        finally:
            os.close(fd)
        parts.append(data.ljust(size, b"\0"))
        at, length = at + size, length - size
    return b"".join(parts)


def _fault(found: StripedSet, base: int, head: bytes) -> str:
    version = head[8]
    if version > 3:
        return f"its superblock has version {version}, which is not known"
    # Addresses have 8 bytes in all files that HDF5 makes by itself; the end's place depends on it.
    width = head[13] if version < 2 else head[9]
    begin = (24 if version == 0 else 28) if version < 2 else 12
    end = int.from_bytes(head[begin + 2 * width : begin + 3 * width], "little")
    if base + end > found.size:
        return (
            f"it has {found.size} bytes of {base + end}: a subfile ends early, or was not flushed"
        )
    return ""
