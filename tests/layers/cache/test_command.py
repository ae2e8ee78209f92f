"""headrace cache: what it says of the file that programs have made, and what it drops."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path

import h5py
import numpy as np
from harness.run import Result, run
from layers.cache.node import Cache


def make(name: str, length: int) -> None:
    with h5py.File(name, "w") as f:
        f.create_dataset("d", data=np.arange(length), chunks=(1000,), compression="gzip")


def read(name: str) -> None:
    with h5py.File(name, "r") as f:
        print(int(f["d"][...].sum()))


def command(cache: Cache, *words: str | Path) -> Result:
    headrace = Path(sys.executable).with_name("headrace")
    done = run([headrace, "cache", *words], env=cache.env(), cwd=cache.folder)
    assert done.status == 0, done.text
    return done


def test_lists_and_drops(cache: Cache) -> None:
    assert "no chunks are kept" in command(cache, "ls").text
    assert "no chunks are kept" in command(cache, "evict").text
    for name, length in (("x.h5", 10_000), ("y.h5", 5_000)):
        cache.plain(partial(make, name, length))
        cache.python(partial(read, name))
    listed = command(cache, "ls", "x.h5", "y.h5").text
    assert [line.split("│")[1:3] for line in listed.splitlines() if ".h5" in line] == [
        [" x.h5 ", " 10     "],
        [" y.h5 ", " 5      "],
    ]
    assert "inode" in command(cache, "ls").text
    assert "10 chunks are dropped" in command(cache, "evict", "x.h5").text
    for name in ("x.h5", "y.h5"):
        cache.python(partial(read, name))
    assert cache.counted("chunks_cached") == 25
    assert cache.counted("cache_hits") == 5
    assert "all chunks are dropped" in command(cache, "evict").text
    assert not (cache.shared / "chunks-2").exists()


def test_a_damaged_file_is_an_error_that_names_it(cache: Cache) -> None:
    damaged = cache.shared / "chunks-2"
    for content in (b"", b"hchunks1", b"hchunks1" + bytes(9000)):
        damaged.write_bytes(content)
        headrace = Path(sys.executable).with_name("headrace")
        done = run([headrace, "cache", "ls"], env=cache.env(), cwd=cache.folder)
        assert done.status == 2
        assert f"{damaged} is damaged" in done.text
