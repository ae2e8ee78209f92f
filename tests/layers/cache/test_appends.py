"""Rows that are appended to a chunk that never gets full, and readers in between."""

from __future__ import annotations

import os
import subprocess
import sys
import zlib
from pathlib import Path

import h5py
import numpy as np
import pytest
from harness.seed import LONG
from harness.stack import NATIVE, stack_env
from layers.cache.node import Cache

CHUNK = 20_000  # rows, more than all appends together


def make(folder: Path) -> None:
    with h5py.File(folder / "x.h5", "w") as f:
        for name, columns in (("line", ()), ("table", (7,))):
            how = {"maxshape": (None, *columns), "chunks": (CHUNK, *columns)}
            f.create_dataset(name, (0, *columns), "i4", compression="gzip", **how)


def append(rows: int) -> None:
    with h5py.File("x.h5", "a") as f:
        for number, d in enumerate(f.values()):
            first = len(d)
            d.resize(first + rows, axis=0)
            values = np.arange(first, first + rows) + number
            d[first:] = values if d.ndim == 1 else values[:, None]


def look() -> int:
    """A checksum of all rows; each of them is what was appended."""
    checksum = 0
    with h5py.File("x.h5", "r") as f:
        for number, d in enumerate(f.values()):
            seen = d[...]
            expected = np.arange(len(seen)) + number
            assert (expected == seen.T).all(), seen
            assert len(seen) == 0 or (d[-1] == expected[-1]).all()
            checksum = zlib.crc32(seen.tobytes(), checksum)
    return checksum


def serve() -> None:
    """Appends so many rows, if any, and tells what the file has then."""
    for line in sys.stdin:
        if int(line) > 0:
            append(int(line))
        print(look(), flush=True)


def ask(process: subprocess.Popen[str], rows: int) -> int:
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(f"{rows}\n")
    process.stdin.flush()
    return int(process.stdout.readline())


@pytest.mark.parametrize("under", [NATIVE, "cache"])
def test_readers_see_all_rows_between_appends(cache: Cache, under: str) -> None:
    """With HDF5's locks on: each opens the file and closes it again."""
    locks = {"HDF5_USE_FILE_LOCKING": "TRUE"}
    environ = {NATIVE: {**stack_env(NATIVE), **locks}, "cache": cache.env(**locks)}
    make(cache.folder)
    processes = [cache.begin(serve, environ[each]) for each in (NATIVE, under, "cache")]
    native, writer, reader = processes
    rng = np.random.default_rng(5)
    for turn in range(2000 if LONG else 40):
        written = ask(writer, int(rng.integers(1, 6)))
        assert ask(native, 0) == written, turn
        for _ in range(int(rng.integers(0, 3))):
            assert ask(reader, 0) == written, turn
    for process in processes:
        assert process.stdin is not None
        process.stdin.close()
        assert process.wait(60) == os.EX_OK
    assert cache.counted("chunks_cached") >= 20
    assert cache.counted("cache_hits") > 20
