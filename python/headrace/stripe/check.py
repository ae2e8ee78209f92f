"""Whether the pieces of a set make up a whole HDF5 file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from headrace.errors import FileError
from headrace.stripe.state import checksum_of, state_path
from headrace.stripe.stub import SIGNATURE, superblock_places

if TYPE_CHECKING:
    from headrace.stripe.sets import StripedSet

_LENGTH: Final = 64  # bytes that a superblock's addresses are in


def fault_of(found: StripedSet) -> str:
    """What is wrong, in words; empty where a superblock was found and nothing is missing.

    Superblock: HDF5 File Format Specification, versions 0 to 3.
    """
    for at in superblock_places(found.size):
        head = found.read(at, _LENGTH)
        if head.startswith(SIGNATURE):
            return _fault(found, head)
    return "no HDF5 signature is in it"


def require_whole(found: StripedSet) -> None:
    """Raises FileError where it does not make up a file."""
    if fault := fault_of(found):
        raise FileError(f"{found.stub}: {fault}")


def require_checksums(found: StripedSet) -> bool:
    """Whether there are some, which all fit then. Raises FileError where one does not."""
    sums = found.state.checksums if found.state is not None else ()
    if sums and len(sums) != len(found.subfiles):
        raise FileError(f"{state_path(found.config)}: it has {len(sums)} checksums of "
                        f"{len(found.subfiles)} subfiles")  # fmt: skip
    for number in range(len(found.subfiles)):
        require_checksum(found, number)
    return bool(sums)


def require_checksum(found: StripedSet, number: int) -> None:
    """Of one subfile, if there is one. Raises FileError where it does not fit."""
    sums = found.state.checksums if found.state is not None else ()
    if number >= len(sums):
        return
    path = found.subfiles[number]
    try:
        fits = checksum_of(path) == sums[number]
    except OSError as error:
        raise FileError(f"{path}: {error.strerror}") from None
    if not fits:
        raise FileError(f"{path}: its bytes are not those that it had when {found.stub} was closed")


def _fault(found: StripedSet, head: bytes) -> str:
    version = head[8]
    if version > 3:
        return f"its superblock has version {version}, which is not known"
    # Addresses have 8 bytes in all files that HDF5 makes by itself; the end's place depends on it.
    width = head[13] if version < 2 else head[9]
    begin = (24 if version == 0 else 28) if version < 2 else 12
    end = int.from_bytes(head[begin + 2 * width : begin + 3 * width], "little")
    if end > found.size:
        return f"it has {found.size} bytes of {end}: a subfile ends early, or was not flushed"
    return ""
