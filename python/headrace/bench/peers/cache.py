"""What the system holds of files: written out, forgotten, and whether it was."""

import ctypes
import mmap
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final

_FAILED: Final = ctypes.c_void_p(-1).value


def files(folder: Path) -> Iterator[Path]:
    """All files below a folder."""
    return (each for each in folder.rglob("*") if each.is_file())


def sync(folder: Path) -> None:
    """Waits until all files are on disk."""
    for path in files(folder):
        file = os.open(path, os.O_RDONLY)
        os.fsync(file)
        os.close(file)


def drop(folder: Path) -> str:
    """Has the system forget the files: "file" when none of their pages is in memory, else "no"."""
    sync(folder)  # only what is on disk can be forgotten
    dropped = True
    for path in files(folder):
        file = os.open(path, os.O_RDONLY)
        os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
        dropped = _is_forgotten(file) and dropped
        os.close(file)
    return "file" if dropped else "no"


def _is_forgotten(file: int) -> bool:
    """Whether no page of an opened file is in memory; False when that cannot be told."""
    size = os.fstat(file).st_size
    if size == 0:
        return True
    libc = ctypes.CDLL(None)
    libc.mmap.restype = ctypes.c_void_p
    libc.mmap.argtypes = (ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long)
    libc.mincore.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_char_p)
    libc.munmap.argtypes = (ctypes.c_void_p, ctypes.c_size_t)
    start = libc.mmap(None, size, mmap.PROT_READ, mmap.MAP_SHARED, file, 0)
    if start == _FAILED:
        return False
    pages = ctypes.create_string_buffer(-(-size // mmap.PAGESIZE))
    known = libc.mincore(start, size, pages) == 0
    libc.munmap(start, size)
    return known and not any(page & 1 for page in pages.raw)
