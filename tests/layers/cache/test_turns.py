"""Writers and readers of one file by turns: readers under the layer see what was written last."""

from __future__ import annotations

import os
import subprocess
import sys
import zlib
from pathlib import Path

import h5py
import numpy as np
from harness.seed import LONG
from harness.stack import NATIVE, stack_env
from layers.cache.node import Cache


def change(seed: int) -> None:
    """One of the ways in which a program leaves other values in a file."""
    rng = np.random.default_rng(seed)
    kind = rng.integers(6)
    if kind == 0:
        Path("x.h5").unlink(missing_ok=True)
    with h5py.File("x.h5" if kind != 1 else "new.h5", "w" if kind <= 1 else "a") as f:
        if kind == 2 and "d" in f:
            del f["d"]
        if "d" not in f:
            chunk = int(rng.integers(20, 200))
            data = rng.integers(0, 9, 1000)
            f.create_dataset("d", data=data, chunks=(chunk,), maxshape=(None,), compression="gzip")
        elif kind == 3:
            f["d"].resize((int(rng.integers(900, 1100)),))
        first = int(rng.integers(0, 800))
        f["d"][first : first + int(rng.integers(1, 100))] = int(rng.integers(9))
    if kind == 1:
        Path("new.h5").replace("x.h5")


def serve() -> None:
    """Does what each line says, and tells a checksum of what the dataset has then."""
    for line in sys.stdin:
        what, seed = line.split()
        if what == "write":
            change(int(seed))
        with h5py.File("x.h5", "r") as f:
            seen = f["d"][...]
        print(zlib.crc32(seen.tobytes()), flush=True)


def ask(process: subprocess.Popen[str], line: str) -> int:
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(line + "\n")
    process.stdin.flush()
    return int(process.stdout.readline())


def test_readers_see_what_was_written_last(cache: Cache) -> None:
    rng = np.random.default_rng(3)
    shared = str(cache.shared)
    writers = [cache.begin(serve, stack_env(NATIVE)),
               cache.begin(serve, stack_env("null", None, HEADRACE_SHARED=shared)),
               cache.begin(serve, cache.env())]  # fmt: skip
    readers = [cache.begin(serve, cache.env()) for _ in range(2)]
    native = writers[0]
    for turn in range(5000 if LONG else 200):
        ask(writers[rng.integers(3)], f"write {turn}")
        written = ask(native, "read 0")
        for reader in readers:
            for _ in range(int(rng.integers(0, 3))):
                assert ask(reader, "read 0") == written, turn
    for reader in readers:
        assert reader.stdin is not None
        reader.stdin.close()
        assert reader.wait(60) == os.EX_OK
    assert cache.counted("cache_hits") > 100
