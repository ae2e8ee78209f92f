"""The machine as every timed process finds it."""

from __future__ import annotations

import ctypes
import mmap
import os
from pathlib import Path

_LEAST = 1 << 30


def settle(folder: Path, payload: int) -> None:
    """Leaves nothing to write out, and free memory at hand for what moves `payload` bytes.

    A virtual machine may give free memory back to its host (Linux's free page reporting). The first
    touch of it then costs tens of times as much, and which process pays is chance.
    """
    file = os.open(folder, os.O_RDONLY)
    ctypes.CDLL(None).syncfs(file)
    os.close(file)
    _touch(min(_LEAST + 2 * payload, _available() // 2))


def _touch(size: int) -> None:
    with mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS) as memory:
        memory.madvise(mmap.MADV_HUGEPAGE)
        for page in range(0, size, mmap.PAGESIZE):
            memory[page] = 1


def _available() -> int:
    for line in Path("/proc/meminfo").read_text(encoding="ascii").splitlines():
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) * 1024
    return 2 * _LEAST
