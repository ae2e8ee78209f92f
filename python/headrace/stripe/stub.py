"""The stub of a set: the file that has its name (src/sidecar/stub.hpp says more)."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

if TYPE_CHECKING:
    from pathlib import Path

SIGNATURE: Final = b"\x89HDF\r\n\x1a\n"
FARTHEST: Final = 64 << 20  # bytes of a user block, a power of two from 512 on
# Programs such as netCDF look for the signature by themselves. What follows it here is no version
# of a superblock, so plain HDF5 refuses the file.
_TEXT: Final = SIGNATURE + b"\n"
_DRIVER: Final = b"Subfilin"
_SUPERBLOCK: Final = 48  # bytes: version 2 and 3 have no more
_HEADER: Final = 4096  # bytes in which the driver's name is looked for
_LINE: Final = b"(headrace: a file in pieces)\n"
_IDENTITY: Final = re.compile(rb"set=([0-9]{1,20})\n(?:id=([0-9a-f]{16})\n)?(?:made=([^\n]+)\n)?")
_SIZE: Final = 8192  # bytes that the text has with such lines


@dataclass(frozen=True)
class Stub:
    """`superblock`: HDF5's subfiling has written it, or it is an ordinary file.

    `was_text`: what HDF5 has left of ours shows in it. `number`: in ours, that in the names of its
    pieces, by which a stub that was copied over another one is told; `id`: what tells its set from
    others that have had that number; `made`: where it was then. Older ones do not tell them.
    `inode`: of the file.
    """

    kind: Literal["text", "superblock", "empty", "other"]
    names_subfiling: bool = False
    was_text: bool = False
    superblock_at: int = 0
    superblock: bytes = b""
    number: int | None = None
    id: str = ""
    made: str = ""
    inode: int = 0


def read_stub(path: Path) -> Stub:
    """Raises OSError."""
    with path.open("rb") as file:
        is_ = os.fstat(file.fileno())
        size = is_.st_size
        for at in superblock_places(size):
            head = os.pread(file.fileno(), _HEADER, at)
            if at == 0 and head.startswith(_TEXT):
                return _of_text(head, is_.st_ino)
            if head.startswith(SIGNATURE):
                was_text = _LINE in os.pread(file.fileno(), _SIZE, 0)
                return Stub(
                    "superblock",
                    _DRIVER in head,
                    was_text,
                    at,
                    head[:_SUPERBLOCK],
                    inode=is_.st_ino,
                )
    return Stub("other" if size else "empty", inode=is_.st_ino)


def _of_text(head: bytes, inode: int) -> Stub:
    if (told := _IDENTITY.match(head, len(_TEXT))) is None:
        return Stub("text", inode=inode)
    id_, made = (os.fsdecode(each or b"") for each in told.group(2, 3))
    return Stub("text", number=int(told[1]), id=id_, made=made, inode=inode)


def superblock_places(size: int) -> list[int]:
    """Where a file of that size may have its superblock (HDF5 File Format Specification)."""
    places = [0, *(512 << n for n in range(64))]
    return [at for at in places if at < min(size, FARTHEST)]


def stub_text(stub: Path, number: int, count: int, stripe: int, id_: str) -> bytes:
    """What a stub says to who opens it by itself, and to which set it belongs."""
    name = stub.name
    text = _TEXT + os.fsencode(
        f"set={number}\nid={id_}\nmade={stub.absolute()}\n"
        f"{name} is a file in {count} pieces, with stripes of {stripe} bytes, which lie beside it "
        f"as HDF5's subfiling writes them.\nheadrace fuse {name}   makes one HDF5 file of them.\n"
        "headrace run --stack stripe -- PROGRAM   lets a program read and write them.\n"
        "HDF5's own subfiling driver reads them as they are.\n"
    )
    return text + _LINE * -((len(text) - _SIZE) // len(_LINE))
