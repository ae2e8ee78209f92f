"""Chunks on the node's disk: there after all programs have ended, right, and never in the way."""

from __future__ import annotations

import os
import resource
import shutil
import signal
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import h5py
import numpy as np
import pytest
from harness.program import text_of
from harness.run import Result, run
from harness.stack import CLEAN
from layers.cache.node import Cache

pytestmark = pytest.mark.sanitized

CHUNKS = 40
USUAL = "memory=64MiB;settle=0;"


def make(value: int = 0) -> None:
    with h5py.File("x.h5", "w") as f:
        data = np.arange(CHUNKS * 1000) + value
        f.create_dataset("d", data=data, chunks=(1000,), compression="gzip")


def read_each(value: int = 0, rounds: int = 1) -> None:
    with h5py.File("x.h5", "r") as f:
        for _ in range(rounds):
            for first in range(0, CHUNKS * 1000, 1000):
                seen = f["d"][first : first + 1000]
                assert (seen == np.arange(first, first + 1000) + value).all()


def read_at_once() -> None:
    with h5py.File("x.h5", "r") as f:
        assert (f["d"][...] == np.arange(CHUNKS * 1000)).all()
        assert (f["d"].astype("f4")[::7] == np.arange(0, CHUNKS * 1000, 7)).all()


def forget_memory(cache: Cache) -> None:
    (cache.shared / "chunks-2").unlink()


def options(cache: Cache, size: str = "16MiB") -> str:
    return f"{USUAL}path={cache.folder};size={size};"


def disk_of(cache: Cache) -> Path:
    return cache.folder / f"headrace-{os.geteuid()}/disk-chunks-1"


def command(cache: Cache, *words: str | Path, status: int = 0) -> Result:
    headrace = Path(sys.executable).with_name("headrace")
    done = run([headrace, "cache", *words], env=cache.env(), cwd=cache.folder)
    assert done.status == status, done.text
    return done


@pytest.mark.parametrize("read", [read_each, read_at_once])
def test_the_next_run_decodes_nothing(cache: Cache, read: Callable[[], None]) -> None:
    cache.plain(make)
    cache.python(read, options(cache))
    assert cache.counted("chunks_cached") == CHUNKS
    forget_memory(cache)
    cache.python(read, options(cache))
    assert cache.counted("chunks_cached") == CHUNKS
    assert cache.counted("chunks_from_disk") == CHUNKS
    assert cache.counted("disk_bytes") == CHUNKS * 8000


def test_a_file_that_has_changed_is_decoded_anew(cache: Cache) -> None:
    cache.plain(make)
    cache.python(read_each, options(cache))
    cache.plain(partial(make, 5))
    forget_memory(cache)
    cache.python(partial(read_each, 5), options(cache))
    assert cache.counted("chunks_from_disk") == 0


def test_damage_is_found_by_who_reads_and_by_the_command(cache: Cache) -> None:
    cache.plain(make)
    cache.python(read_each, options(cache))
    assert "40 chunks, 0 of them damaged" in command(cache, "verify", "--path", ".").text
    raw = bytearray(disk_of(cache).read_bytes())
    for number in (3, 7):
        at = raw.index(np.arange(number * 1000, number * 1000 + 100).tobytes())
        raw[at + 5000] ^= 1
    disk_of(cache).write_bytes(raw)
    forget_memory(cache)
    cache.python(read_each, options(cache))
    assert cache.counted("chunks_from_disk") == CHUNKS - 2
    assert "40 chunks, 0 of them damaged" in command(cache, "verify", "--path", ".").text
    disk_of(cache).write_bytes(raw)
    assert "2 of them damaged" in command(cache, "verify", "--path", ".", status=1).text


def test_the_command_tells_and_drops_it(cache: Cache) -> None:
    cache.plain(make)
    cache.python(read_each, options(cache))
    listed = command(cache, "ls", "x.h5", "--path", ".").text
    assert listed.count(" 40 ") == 2
    assert "disk-chunks-1" in listed
    assert "80 chunks are dropped" in command(cache, "evict", "x.h5", "--path", ".").text
    cache.python(read_each, options(cache))
    assert cache.counted("chunks_cached") == 2 * CHUNKS
    command(cache, "evict", "--path", ".")
    assert not disk_of(cache).exists()


@pytest.mark.parametrize("path", ["missing/folder", "x.h5"])
def test_without_a_place_nothing_is_kept_and_all_is_read(cache: Cache, path: str) -> None:
    cache.plain(make)
    cache.python(read_each, f"{USUAL}path={cache.folder / path};size=16MiB;")
    assert cache.counted("chunks_cached") == CHUNKS
    assert "no chunks are kept in" in cache.log


def read_with_a_limit(later: bool) -> None:
    signal.signal(signal.SIGXFSZ, signal.SIG_DFL)  # as other programs have it than Python's
    f = h5py.File("x.h5", "r")
    if later:
        f["d"][0]
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))
    for _ in range(2):
        assert (f["d"][...] == np.arange(CHUNKS * 1000)).all()
    f.close()


@pytest.mark.parametrize("later", [False, True])
def test_a_limit_of_files_is_no_error(cache: Cache, later: bool) -> None:
    cache.plain(make)
    cache.python(partial(read_with_a_limit, later), options(cache))


def test_a_full_disk_is_no_error(cache: Cache) -> None:
    """In a mount namespace of its own, where a small file system is mounted."""
    cache.plain(make)
    small = cache.folder / "small"
    small.mkdir()
    (cache.folder / "read.py").write_text(text_of(read_each))
    unshare = shutil.which("unshare")
    assert unshare is not None
    if run([unshare, "-mu", "true"], env=CLEAN, cwd=cache.folder).status != 0:
        pytest.skip("mount namespaces are not allowed here")
    script = f"mount -t tmpfs -o size=2m none {small} && exec {sys.executable} read.py"
    usual = f"{USUAL}path={small};size=64MiB;"
    done = cache.command([unshare, "-m", "sh", "-c", script], usual)
    assert done.status == 0, done.text
    assert cache.counted("chunks_cached") == CHUNKS


def test_killed_readers_leave_nothing_wrong(cache: Cache) -> None:
    cache.plain(make)
    environ = cache.env(options(cache, "2MiB"))
    for round_ in range(12):
        process = cache.begin(partial(read_each, 0, 1000), environ)
        time.sleep(0.3 + 0.02 * round_)
        process.send_signal(signal.SIGKILL)
        process.wait()
        (cache.shared / "chunks-2").unlink(missing_ok=True)
    cache.python(read_each, options(cache, "2MiB"))
    text = command(cache, "verify", "--path", ".").text
    assert " 0 of them damaged" in text
