"""The files of decoded chunks, in memory and on a disk, as docs/formats/chunks.md has them."""

from __future__ import annotations

import os
import struct
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from stat import S_ISREG
from typing import Final

from headrace.errors import FileError

MEMORY: Final = "chunks-2"
DISK: Final = "disk-chunks-1"
_HOLDERS: Final = "holders-1-{}"  # of a namespace of processes
_HOLDER: Final = struct.Struct("<II")  # process and descriptor
_IN_MEMORY: Final = b"hchunks1"
_ON_DISK: Final = b"hdchunk1"
_PAGE: Final = 4096
_OWNERS: Final = 1024
_CLASSES: Final = 29
_MOST_SLABS: Final = 4096
_HEADER: Final = struct.Struct("<8sQQQ")
_COUNTS_AT: Final = _HEADER.size + 4 * _OWNERS
_SLABS_AT: Final = _COUNTS_AT + 4 * _CLASSES
_FIXED: Final = -(-(_SLABS_AT + (2 * _CLASSES + 4) * _MOST_SLABS) // _PAGE) * _PAGE
# State, tag, length, checksum and time (of a disk's), key.
_WAY: Final = struct.Struct("<QQQII56s40x")
_TAG_AT: Final = 8
_NO_CHUNK: Final = 0x80  # in a key's last byte: a chunk was used, and is not kept
_FILE: Final = struct.Struct("<QQ")  # device and inode, at the beginning of a key


@dataclass
class CachedFile:
    """What is kept of one file, whatever its versions."""

    device: int
    inode: int
    chunks: int = 0
    bytes: int = 0


@dataclass
class Store:
    """What there is in a file of chunks; `taken` and what is in files are in bytes."""

    path: Path
    bound: int = 0
    taken: int = 0
    files: dict[tuple[int, int], CachedFile] = field(default_factory=dict)


def folder() -> Path:
    """Where processes of this user find those in memory."""
    return Path(os.environ.get("HEADRACE_SHARED") or _of_user(Path("/dev/shm")))  # noqa: S108


def in_memory() -> Path:
    """The file of chunks in memory; of one without a name, through a process that has it."""
    named = folder() / MEMORY
    return named if named.exists() else next(_held(), named)


def _held() -> Iterator[Path]:
    try:
        namespace = Path("/proc/self/ns/pid").stat().st_ino
        table = (folder() / _HOLDERS.format(namespace)).read_bytes()
    except OSError:
        return
    for process, descriptor in _HOLDER.iter_unpack(table[: len(table) // 8 * 8]):
        path = Path(f"/proc/{process}/fd/{descriptor}")
        try:
            status = path.stat()
            if process and S_ISREG(status.st_mode) and not status.st_nlink and _is_sound(path):
                yield path
        except OSError:
            continue


def _is_sound(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(len(_IN_MEMORY)) == _IN_MEMORY


def on_disk(path: Path) -> Path:
    """That of the layer's option `path`."""
    return _of_user(path) / DISK


def read_store(path: Path) -> Store | None:
    """None where there is none. Raises FileError where it is damaged."""
    if not path.exists():
        return None
    store = Store(path, taken=path.stat().st_blocks * 512)
    with _opened(path) as file:
        store.bound = file.bound
        for way in file.ways():
            one = store.files.setdefault(way.file, CachedFile(*way.file))
            one.chunks += 1
            one.bytes += way.length
    return store


def evict_all(path: Path) -> bool:
    """Frees the room as soon as the programs end that use it now. False where there is none."""
    if path.name.isdigit():  # no name leads to it
        with _opened(path) as file:
            for way in file.ways():
                file.drop(way)
        return True
    try:
        path.unlink()
    except FileNotFoundError:
        return False
    return True


def evict(path: Path, files: set[tuple[int, int]]) -> int:
    """Has nobody find chunks of files any more, by device and inode. Returns how many it were."""
    if not path.exists():
        return 0
    evicted = 0
    with _opened(path) as file:
        for way in file.ways():
            if way.file in files:
                file.drop(way)
                evicted += 1
    return evicted


def verify(path: Path) -> tuple[int, int]:
    """Drops the chunks of a disk's file whose checksums are wrong.

    Returns:
        How many chunks there are, and how many of them were damaged.
    """
    if not path.exists():
        return 0, 0
    chunks = damaged = 0
    with _opened(path) as file:
        for way in file.ways():
            chunks += 1
            if file.is_damaged(way):
                file.drop(way)
                damaged += 1
    return chunks, damaged


def _of_user(parent: Path) -> Path:
    return parent / f"headrace-{os.geteuid()}"


@dataclass(frozen=True, slots=True)
class _Way:
    """A place with a chunk; `at` and `data_at` in bytes of the file."""

    at: int
    data_at: int
    raw: bytes
    length: int
    checksum: int
    key: bytes

    @property
    def file(self) -> tuple[int, int]:
        device, inode = _FILE.unpack_from(self.key)
        return device, inode


@dataclass(frozen=True, slots=True)
class _Opened:
    descriptor: int
    slab_bytes: int
    slabs: int

    @property
    def bound(self) -> int:
        """Bytes that the file takes at most."""
        return _size(self.slab_bytes, self.slabs)

    def ways(self) -> Iterator[_Way]:
        """Those that have a chunk, of all slabs that a class has."""
        table = os.pread(self.descriptor, _FIXED, 0)
        for index in range(_CLASSES):
            (count,) = struct.unpack_from("<I", table, _COUNTS_AT + 4 * index)
            for at in range(min(count, self.slabs)):
                where = _SLABS_AT + 2 * (index * _MOST_SLABS + at)
                (slab,) = struct.unpack_from("<H", table, where)
                if slab < self.slabs:
                    yield from self._ways_of(slab, _bytes_of_class(index))

    def _ways_of(self, slab: int, place: int) -> Iterator[_Way]:
        ways_bytes = self.slab_bytes // _PAGE * _WAY.size
        first = _FIXED + slab * ways_bytes
        data = _FIXED + self.slabs * ways_bytes + slab * self.slab_bytes
        raw = os.pread(self.descriptor, self.slab_bytes // place * _WAY.size, first)
        for number, (state, tag, length, checksum, _, key) in enumerate(_WAY.iter_unpack(raw)):
            if not state & 1 and tag and length and not key[-1] & _NO_CHUNK:
                at = first + number * _WAY.size
                one = raw[number * _WAY.size : (number + 1) * _WAY.size]
                yield _Way(at, data + number * place, one, length, checksum, key)

    def is_damaged(self, way: _Way) -> bool:
        """Of a disk's. What is being replaced is not."""
        chunk = os.pread(self.descriptor, way.length, way.data_at)
        after = os.pread(self.descriptor, len(way.raw), way.at)
        return after == way.raw and zlib.crc32(chunk, zlib.crc32(way.key)) != way.checksum

    def drop(self, way: _Way) -> None:
        os.pwrite(self.descriptor, bytes(8), way.at + _TAG_AT)


@contextmanager
def _opened(path: Path) -> Iterator[_Opened]:
    with path.open("r+b") as file:
        header = file.read(_HEADER.size)
        if len(header) < _HEADER.size:
            raise FileError(f"{path} is damaged")
        magic, slab_bytes, slabs, _ = _HEADER.unpack(header)
        size = _size(slab_bytes, slabs)
        if (
            magic != (_ON_DISK if path.name == DISK else _IN_MEMORY)
            or not 0 < slabs <= _MOST_SLABS
            or os.fstat(file.fileno()).st_size != size
        ):
            raise FileError(f"{path} is damaged")
        yield _Opened(file.fileno(), slab_bytes, slabs)


def _size(slab_bytes: int, slabs: int) -> int:
    return _FIXED + slabs * (slab_bytes // _PAGE * _WAY.size + slab_bytes)


def _bytes_of_class(index: int) -> int:
    power = _PAGE << (index // 2)
    return power + power // 2 if index % 2 else power
