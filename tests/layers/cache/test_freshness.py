"""Each row of the table in docs/guide/cache.md that says what a reader sees of a writer."""

from __future__ import annotations

import dataclasses
import os
import signal
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import h5py
import numpy as np
import pytest
from harness.layer import Options
from harness.run import run
from harness.stack import CLEAN, NATIVE, stack_env
from harness.until import until
from layers.cache.node import Cache
from layers.log.later.commands import HEADRACE


def write(value: int) -> None:
    """The same size each time, as chunks are stored anew in the same place."""
    how = {"chunks": (200,), "compression": "gzip"}
    with h5py.File("x.h5", "a") as f:
        d = f.require_dataset("d", (2000,), "i4", **how)
        d[...] = np.full(2000, value)


def look() -> None:
    with h5py.File("x.h5", "r") as f:
        print(*np.unique(f["d"][...]))


def seen(cache: Cache, options: Options = ...) -> int:
    return int(cache.python(look, options).out.decode())


def remade(cache: Cache) -> None:
    """With its size and the time of its last change."""
    path = cache.folder / "x.h5"
    before = path.stat()
    path.unlink()
    cache.plain(partial(write, 2))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert path.stat().st_size == before.st_size


def replaced(cache: Cache) -> None:
    path = cache.folder / "x.h5"
    path.rename(cache.folder / "old.h5")
    cache.plain(partial(write, 2))
    path.rename(cache.folder / "new.h5")
    (cache.folder / "new.h5").replace(path)


WRITERS: dict[str, Callable[[Cache], object]] = {
    "natively": lambda cache: cache.plain(partial(write, 2)),
    "under the layer": lambda cache: cache.python(partial(write, 2)),
    "a file made again": remade,
    "a file put in its place": replaced,
}


@pytest.mark.parametrize("how", WRITERS)
def test_the_next_open_sees_it(cache: Cache, how: str) -> None:
    cache.plain(partial(write, 1))
    for _ in range(2):
        assert seen(cache) == 1
    assert cache.counted("chunks_cached") == 10
    WRITERS[how](cache)
    for _ in range(2):
        assert seen(cache) == 2
    assert cache.counted("chunks_cached") == 20


def test_what_has_changed_just_now_is_not_kept(cache: Cache) -> None:
    cache.plain(partial(write, 1))
    for _ in range(2):
        assert seen(cache, "settle=3600s;") == 1
    assert cache.counted("chunks_cached") == 0
    assert cache.counted("left_for_recent_change") == 2


def read_twice() -> None:
    """Once before it writes a file `read`, once when there is a file `written`."""
    with h5py.File("x.h5", "r") as f:
        print(*np.unique(f["d"][...]), flush=True)
        Path("read").touch()
        while not Path("written").exists():
            time.sleep(0.01)
        print(*np.unique(f["d"][...]))


def hold_open() -> None:
    """Writes a file `held` while it has the other one open for writing."""
    with h5py.File("x.h5", "a") as f:
        Path("held").touch()
        while True:
            f.flush()
            time.sleep(0.01)


def under_layer(cache: Cache, layer: str) -> dict[str, str]:
    """Or natively, without HDF5's locks."""
    shared = str(cache.shared)
    return stack_env(layer, None, HEADRACE_SHARED=shared, HDF5_USE_FILE_LOCKING="FALSE")


def test_who_writes_under_a_layer_is_seen_while_it_writes(cache: Cache) -> None:
    """Without HDF5's locks. A killed writer has ended."""
    cache.plain(partial(write, 1))
    assert seen(cache) == 1
    other = under_layer(cache, "null")
    writer = cache.begin(hold_open, other)
    until((cache.folder / "held").exists)
    assert cache.python(look, HDF5_USE_FILE_LOCKING="FALSE").out.decode().strip() == "1"
    assert cache.counted("left_for_file") == 1  # no hits
    writer.send_signal(signal.SIGKILL)
    writer.wait()
    cached = cache.counted("chunks_cached")
    for _ in range(2):
        assert cache.python(look, HDF5_USE_FILE_LOCKING="FALSE").out.decode().strip() == "1"
    assert cache.counted("chunks_cached") == cached + 10


@pytest.mark.parametrize("layer", ["null", NATIVE])
def test_a_reader_that_has_it_open_keeps_nothing_more(cache: Cache, layer: str) -> None:
    """HDF5's own view of the file is as old as its opening."""
    cache.plain(partial(write, 1))
    reader = cache.begin(read_twice, cache.env(HDF5_USE_FILE_LOCKING="FALSE"))
    until((cache.folder / "read").exists)
    under = under_layer(cache, layer)
    assert cache.begin(partial(write, 2), under).wait(60) == 0
    (cache.folder / "written").touch()
    out, _ = reader.communicate(timeout=60)
    # By the table: what a writer without layers changes is seen at the next open only.
    assert out.split() == (["1", "2"] if layer != NATIVE else ["1", "1"])
    for _ in range(2):
        assert seen(cache) == 2


def test_above_log_what_has_no_log_is_cached(cache: Cache) -> None:
    (cache.folder / "node").mkdir()
    options = "canonicalise=later;path=node;under_vol=0;under_info={};"
    above = dataclasses.replace(cache, below=f"under_vol=7208;under_info={{{options}}};")
    cache.plain(partial(write, 1))
    for _ in range(2):
        assert seen(above) == 1
    assert (cache.counted("chunks_cached"), cache.counted("cache_hits")) == (10, 10)
    above.python(partial(write, 2))
    assert [*cache.folder.glob("x.h5.headrace/*")]
    for _ in range(2):
        assert seen(above) == 2
    assert cache.counted("calls_left_to_hdf5") == 2
    assert int(cache.plain(look)) == 1  # the log has it
    replayed = run([HEADRACE, "replay", "x.h5"], env=CLEAN, cwd=cache.folder)
    assert replayed.status == 0, replayed.text
    for _ in range(2):
        assert seen(above) == 2
    assert (cache.counted("chunks_cached"), cache.counted("cache_hits")) == (20, 20)


def write_block(value: int) -> None:
    with h5py.File("x.h5", "a") as f:
        f.require_dataset("d", (100, 10_000), "i4")[...] = value


def read_blocks_thrice() -> None:
    """Two by turns, which are kept at the second time; then it waits for a file `written`."""
    with h5py.File("x.h5", "r") as f:
        for row in (7, 90, 7, 90):
            assert (f["d"][row, :9] == 1).all()
        Path("read").touch()
        while not Path("written").exists():
            time.sleep(0.01)
        print(*np.unique(f["d"][7, :9]))


def test_a_kept_block_is_as_old_as_the_opening(cache: Cache) -> None:
    """Natively a reader sees the new values."""
    options = cache.usual + "contiguous=true;"
    for kept, shown in ((None, "2"), (options, "1")):
        for name in ("read", "written", "x.h5"):
            (cache.folder / name).unlink(missing_ok=True)
        cache.plain(partial(write_block, 1))
        reader = cache.begin(read_blocks_thrice, cache.env(kept, HDF5_USE_FILE_LOCKING="FALSE"))
        until((cache.folder / "read").exists)
        under = under_layer(cache, NATIVE)
        assert cache.begin(partial(write_block, 2), under).wait(60) == 0
        (cache.folder / "written").touch()
        assert reader.communicate(timeout=60)[0].split() == [shown]
