"""What this machine can do at most: the lines that curves cannot cross."""

from __future__ import annotations

import ctypes
import ctypes.util
import os
import statistics
import time
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from . import data

_BLOCK = 16 << 20
_LEVEL = 4


def measure(folder: Path, size: int, rounds: int) -> dict[str, Any]:
    """Bytes per second by name, each the median of some rounds; `size` bytes are copied, written.

    Codecs are on one core and tell the bytes that are not compressed.
    """
    found: dict[str, list[float]] = {}
    chunk = np.ascontiguousarray(data.field(8 << 20)[:512, :512])
    shuffled = np.ascontiguousarray(chunk.view(np.uint8).reshape(-1, 4).T)
    source, target = np.ones(size, np.uint8), np.ones(size, np.uint8)
    tasks: dict[str, tuple[int, Callable[[], object]]] = {
        "copy": (size, lambda: np.copyto(target, source)),
        "pwrite": (size, lambda: _pwrite(folder / "raw", source)),
    }
    for kind, text in (("plain", chunk.tobytes()), ("shuffle", shuffled.tobytes())):
        tasks |= _codecs(kind, text)
    for _ in range(rounds):
        for name, (count, task) in tasks.items():
            start = time.perf_counter()
            task()
            found.setdefault(name, []).append(count / (time.perf_counter() - start))
            (folder / "raw").unlink(missing_ok=True)
    return {name: statistics.median(rates) for name, rates in found.items()}


def _pwrite(path: Path, source: Any) -> None:
    """To a new file, in blocks, as fast as the system takes them."""
    file = os.open(path, os.O_CREAT | os.O_WRONLY, 0o600)
    for start in range(0, len(source), _BLOCK):
        block = memoryview(source)[start : start + _BLOCK]
        if os.pwrite(file, block, start) != len(block):
            raise OSError(f"{path.name}: a short write")
    os.close(file)


def _codecs(kind: str, text: bytes) -> dict[str, tuple[int, Callable[[], object]]]:
    packed = zlib.compress(text, _LEVEL)
    tasks: dict[str, tuple[int, Callable[[], object]]] = {
        f"zlib compress, {kind}": (len(text), lambda: zlib.compress(text, _LEVEL)),
        f"zlib decompress, {kind}": (len(text), lambda: zlib.decompress(packed)),
    }
    name = ctypes.util.find_library("deflate")
    if name is None:
        return tasks
    library = ctypes.CDLL(name)
    pointer, size = ctypes.c_void_p, ctypes.c_size_t
    for function in (library.libdeflate_alloc_compressor, library.libdeflate_alloc_decompressor):
        function.restype = pointer
    arguments: list[Any] = [pointer, pointer, size, pointer, size]
    library.libdeflate_zlib_compress.argtypes = arguments
    library.libdeflate_zlib_compress.restype = size
    library.libdeflate_zlib_decompress.argtypes = [*arguments, pointer]
    compressor = library.libdeflate_alloc_compressor(_LEVEL)
    decompressor = library.libdeflate_alloc_decompressor()
    room = ctypes.create_string_buffer(len(text) + 1024)
    plain = ctypes.create_string_buffer(len(text))
    return tasks | {
        f"libdeflate compress, {kind}": (
            len(text),
            lambda: library.libdeflate_zlib_compress(
                compressor, text, len(text), room, len(text) + 1024
            ),
        ),
        f"libdeflate decompress, {kind}": (
            len(text),
            lambda: library.libdeflate_zlib_decompress(
                decompressor, packed, len(packed), plain, len(text), None
            ),
        ),
    }
