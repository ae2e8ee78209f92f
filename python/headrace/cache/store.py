"""The file of shared chunks, as docs/formats/chunks.md describes it."""

from __future__ import annotations

import mmap
import os
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from headrace.errors import FileError

NAME: Final = "chunks-1"
_MAGIC: Final = b"hchunks1"
_PAGE: Final = 4096
_OWNERS: Final = 1024
_CLASSES: Final = 29
_MOST_SLABS: Final = 4096
_HEADER: Final = struct.Struct("<8sQQQ")
_COUNTS_AT: Final = _HEADER.size + 4 * _OWNERS
_SLABS_AT: Final = _COUNTS_AT + 4 * _CLASSES
_FIXED: Final = -(-(_SLABS_AT + (2 * _CLASSES + 4) * _MOST_SLABS) // _PAGE) * _PAGE
# Words of 8 bytes of a way, and where they are in it.
_WORDS: Final = 16
_STATE, _TAG, _LENGTH, _DEVICE, _INODE = 0, 1, 2, 4, 5


@dataclass
class CachedFile:
    """What is kept of one file, whatever its versions."""

    device: int
    inode: int
    chunks: int = 0
    bytes: int = 0


@dataclass
class Store:
    """What there is in the file of shared chunks; memory and files are in bytes."""

    path: Path
    bound: int = 0
    memory: int = 0
    files: dict[tuple[int, int], CachedFile] = field(default_factory=dict)


def folder() -> Path:
    """Where processes of this user find it."""
    return Path(os.environ.get("HEADRACE_SHARED") or f"/dev/shm/headrace-{os.geteuid()}")  # noqa: S108


def read_store() -> Store | None:
    """None where there is none. Raises FileError where it is damaged."""
    path = folder() / NAME
    try:
        status = path.stat()
    except FileNotFoundError:
        return None
    store = Store(path, memory=status.st_blocks * 512)
    with _opened(path) as words:
        store.bound = _slab_bytes(words) * _slabs(words)
        for first in _ways(words):
            if words[first + _STATE] & 1 or not words[first + _TAG] or not words[first + _LENGTH]:
                continue
            key = words[first + _DEVICE], words[first + _INODE]
            one = store.files.setdefault(key, CachedFile(*key))
            one.chunks += 1
            one.bytes += words[first + _LENGTH]
    return store


def evict_all() -> bool:
    """Frees the memory as soon as the programs end that use it now. False where there is none."""
    try:
        (folder() / NAME).unlink()
    except FileNotFoundError:
        return False
    return True


def evict(files: set[tuple[int, int]]) -> int:
    """Has nobody find chunks of files any more, by device and inode. Returns how many it were."""
    path = folder() / NAME
    evicted = 0
    if not path.exists():
        return 0
    with _opened(path) as words:
        for first in _ways(words):
            if (words[first + _DEVICE], words[first + _INODE]) in files and words[first + _TAG]:
                words[first + _TAG] = 0
                evicted += 1
    return evicted


@contextmanager
def _opened(path: Path) -> Iterator[memoryview[int]]:
    """Its words, which are those of all processes."""
    with path.open("r+b") as file:
        header = file.read(_HEADER.size)
        size = os.fstat(file.fileno()).st_size
        if len(header) < _HEADER.size:
            raise FileError(f"{path} is damaged")
        magic, slab_bytes, slabs, _ = _HEADER.unpack(header)
        if magic != _MAGIC or not 0 < slabs <= _MOST_SLABS or size != _total(slab_bytes, slabs):
            raise FileError(f"{path} is damaged")
        with (
            mmap.mmap(file.fileno(), size) as memory,
            memoryview(memory) as raw,
            raw.cast("Q") as words,
        ):
            yield words


def _slab_bytes(words: memoryview[int]) -> int:
    return words[1]


def _slabs(words: memoryview[int]) -> int:
    return words[2]


def _total(slab_bytes: int, slabs: int) -> int:
    return _FIXED + slabs * (slab_bytes // _PAGE * _WORDS * 8 + slab_bytes)


def _ways(words: memoryview[int]) -> Iterator[int]:
    """Of all slabs that a class has: where each way begins, in words."""
    slab_bytes, slabs = _slab_bytes(words), _slabs(words)
    ways_words = slab_bytes // _PAGE * _WORDS
    raw = words.cast("B")
    for index in range(_CLASSES):
        (count,) = struct.unpack_from("<I", raw, _COUNTS_AT + 4 * index)
        places = slab_bytes // _bytes_of_class(index)
        for at in range(min(count, slabs)):
            (slab,) = struct.unpack_from("<H", raw, _SLABS_AT + 2 * (index * _MOST_SLABS + at))
            if slab < slabs:
                first = _FIXED // 8 + slab * ways_words
                yield from range(first, first + places * _WORDS, _WORDS)
    raw.release()


def _bytes_of_class(index: int) -> int:
    power = _PAGE << (index // 2)
    return power + power // 2 if index % 2 else power
