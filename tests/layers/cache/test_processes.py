"""Processes of a node decode each chunk once, whoever they are, and none is in charge."""

from __future__ import annotations

import os
import signal
import struct
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import h5py
import numpy as np
import pytest
from harness.program import text_of
from harness.run import run
from harness.seed import LONG
from layers.cache.node import Cache

CHUNKS = 64
CHUNK = 2000


def make() -> None:
    with h5py.File("x.h5", "w") as f:
        data = np.arange(CHUNKS * CHUNK)
        f.create_dataset("d", data=data, chunks=(CHUNK,), compression="gzip")


def shuffled(seed: int, rounds: int = 1) -> None:
    """Each chunk, in an order of its own."""
    with h5py.File("x.h5", "r") as f:
        for _ in range(rounds):
            for i in np.random.default_rng(seed).permutation(CHUNKS):
                first = int(i) * CHUNK
                seen = f["d"][first : first + CHUNK]
                assert (seen == np.arange(first, first + CHUNK)).all(), (i, seen)


# argv: how workers begin; what the parent looks at first.
TRAIN = """
import multiprocessing as mp, sys, h5py
from readers import shuffled
if __name__ == "__main__":
    with h5py.File("x.h5", "r") as f:
        eval(sys.argv[2])
    context = mp.get_context(sys.argv[1])
    for epoch in range(2):
        workers = [context.Process(target=shuffled, args=(seed,)) for seed in range(4)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        assert not any(worker.exitcode for worker in workers)
    shuffled(9)
"""


def write_training(cache: Cache) -> None:
    body = text_of(partial(shuffled, -1)).replace("seed = -1", "").replace("rounds = 1", "")
    head, _, rest = body.partition("with h5py.File")
    indented = ("with h5py.File" + rest).replace("\n", "\n    ")
    (cache.folder / "readers.py").write_text(f"{head}def shuffled(seed, rounds=1):\n    {indented}")
    (cache.folder / "train.py").write_text(TRAIN)


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_workers_decode_each_chunk_once(cache: Cache, method: str) -> None:
    cache.plain(make)
    write_training(cache)
    done = cache.command([sys.executable, "train.py", method, "f['d'][0]"])
    assert done.status == 0, done.text
    cached, hits = cache.counted("chunks_cached"), cache.counted("cache_hits")
    assert cached <= CHUNKS + 2  # two may begin one at the same moment
    cache.python(partial(shuffled, 9))
    assert cache.counted("chunks_cached") == cached
    assert cache.counted("cache_hits") == hits + CHUNKS


def test_a_child_of_a_reader_reads_on(cache: Cache) -> None:
    def read_in_child() -> None:
        f = h5py.File("x.h5", "r")
        first = int(f["d"][:CHUNK].sum())
        child = os.fork()
        second = int(f["d"][:CHUNK].sum())
        assert first == second
        if child == 0:
            f["d"][...]
            os._exit(0)
        assert os.waitpid(child, 0)[1] == 0

    cache.plain(make)
    cache.python(read_in_child)
    cache.python(partial(shuffled, 1))
    assert cache.counted("cache_hits") >= CHUNKS


def test_a_child_of_a_reader_keeps_chunks_on_the_disk(cache: Cache) -> None:
    """Not under sanitizers, whose allocator a thread may hold while another one forks."""

    def read_in_child() -> None:
        f = h5py.File("x.h5", "r")
        f["d"][:CHUNK]
        child = os.fork()
        for first in range(0, CHUNKS * CHUNK, CHUNK):
            assert f["d"][first] == first
        if child == 0:
            f.close()
            os._exit(0)
        assert os.waitpid(child, 0)[1] == 0

    options = f"memory=64MiB;settle=0;path={cache.folder};size=16MiB;"
    cache.plain(make)
    cache.python(read_in_child, options)
    (cache.shared / "chunks-2").unlink()
    cache.python(partial(shuffled, 1), options)
    assert cache.counted("chunks_from_disk") > 0


def test_killed_readers_leave_nothing_wrong(cache: Cache) -> None:
    cache.plain(make)
    rng = np.random.default_rng(1)
    running: list[subprocess.Popen[str]] = []
    for round_ in range(1000 if LONG else 12):
        environ = cache.env("memory=4MiB;settle=0;")
        running.append(cache.begin(partial(shuffled, round_, 1000), environ))
        if len(running) < 3:
            continue
        victim = running.pop(int(rng.integers(3)))
        with pytest.raises(subprocess.TimeoutExpired):
            victim.wait(rng.random() * 0.6)  # it fails where it sees a wrong value
        victim.send_signal(signal.SIGKILL)
        victim.wait()
    for process in running:
        process.kill()
        process.wait()
    cache.python(partial(shuffled, 1))
    assert cache.in_memory < 6 << 20


def test_what_is_no_folder_of_ours_is_not_used(cache: Cache) -> None:
    cache.plain(make)
    cache.shared.chmod(0o777)
    cache.python(partial(shuffled, 1))
    cache.shared.chmod(0o700)
    damaged = cache.shared / "chunks-2"
    damaged.touch(0o600)
    for left in (time.time_ns(), 0):  # when a process has left it: it is used no more, or replaced
        damaged.write_bytes(struct.pack("<24xQ5000x", left))
        cache.python(partial(shuffled, 1))
        assert cache.log.count("chunks-2 is damaged") == 1
    assert f"{cache.shared} is not a folder that only this user may enter" in cache.log
    assert cache.counted("chunks_cached") == CHUNKS


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_little_shared_memory(cache: Cache, method: str) -> None:
    """Of 1 MiB, as some containers have; the parent has decoded nothing, and stays."""
    cache.plain(make)
    write_training(cache)
    script = f'mount -t tmpfs -o size=1m,mode=700 tmpfs {cache.shared} && exec "$0" "$@"'
    program = [sys.executable, "train.py", method, "len(f['d'])"]
    done = cache.command(["unshare", "-m", "sh", "-c", script, *program])
    assert done.status == 0, done.text
    assert cache.counted("chunks_cached") <= CHUNKS + 2
    assert cache.counted("cache_hits") >= CHUNKS


def test_shared_memory_without_a_name_goes_with_the_last(cache: Cache) -> None:
    def listed() -> str:
        command: list[str | Path] = [Path(sys.executable).with_name("headrace"), "cache", "ls"]
        return run(command, env=cache.env(), cwd=cache.folder).text

    def read_until_told() -> None:
        with h5py.File("x.h5", "r") as f:
            child = os.fork()
            f["d"][...]
            if child == 0:
                time.sleep(60)
            print(child, flush=True)
            sys.stdin.read()
            os._exit(0)  # the child goes on

    cache.plain(make)
    much = "memory=1TiB;settle=0;"
    process = cache.begin(read_until_told, cache.env(much))
    assert process.stdin is not None
    assert process.stdout is not None
    child = int(process.stdout.readline())
    process.stdin.close()
    process.wait()
    assert not (cache.shared / "chunks-2").exists()
    cache.python(partial(shuffled, 1), much)
    assert cache.counted("cache_hits") >= CHUNKS
    assert f" {CHUNKS} " in listed()
    os.kill(child, signal.SIGKILL)
    assert "no chunks are kept" in listed()
    cached = cache.counted("chunks_cached")
    cache.python(partial(shuffled, 1), much)
    assert cache.counted("chunks_cached") == cached + CHUNKS


def test_a_daemon_that_closes_all_files(cache: Cache) -> None:
    """What it opens then gets their numbers."""

    def read_as_daemon() -> None:
        with h5py.File("x.h5", "r") as f:
            f["d"][:CHUNK]
        os.closerange(3, 256)
        own = [Path(f"own-{i}").open("w+b") for i in range(20)]  # noqa: SIM115
        for file in own:
            file.write(b"mine" * 100_000)
            file.flush()
        with h5py.File("x.h5", "r") as f:
            assert (f["d"][...] == np.arange(CHUNKS * CHUNK)).all()
        if os.fork() == 0:
            with h5py.File("x.h5", "r") as f:
                f["d"][...]
            os._exit(0)
        os.wait()
        for file in own:
            file.seek(0)
            assert file.read() == b"mine" * 100_000

    cache.plain(make)
    for options in (..., f"memory=64MiB;settle=0;path={cache.folder};size=16MiB;"):
        cache.python(read_as_daemon, options)


def many_opens() -> None:
    for _ in range(2000):
        with h5py.File("x.h5", "r") as f:
            assert f["d"][5] == 5
    descriptors = len(list(Path("/proc/self/fd").iterdir()))
    assert descriptors < 20, descriptors


def test_opens_and_closes_leave_nothing(cache: Cache) -> None:
    cache.plain(make)
    cache.python(many_opens)
    assert {file.name for file in cache.shared.iterdir()} == {"chunks-2", "writers-1"}


def read_and_exit() -> None:
    f = h5py.File("x.h5", "r")
    d = f["d"]
    print(int(d[...].sum()))
    sys.exit(0)  # with the file open


def test_files_that_are_open_at_the_end(cache: Cache) -> None:
    cache.plain(make)
    for _ in range(2):
        cache.python(read_and_exit)
    assert cache.counted("chunks_cached") == CHUNKS
