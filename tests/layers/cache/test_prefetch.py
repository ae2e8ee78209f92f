"""Chunks that are decoded before a program needs them, by the command and by the program."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path

import h5py
import numpy as np
from harness.run import Result, run
from harness.until import until
from layers.cache.node import Cache

import headrace

CHUNKS = 30


def make() -> None:
    with h5py.File("x.h5", "w") as f:
        data = np.arange(CHUNKS * 1000).reshape(-1, 10)
        for name in ("d", "g/e"):
            f.create_dataset(name, data=data, chunks=(100, 10), compression="gzip")
        f.create_dataset("g/wide", data=data, chunks=(1000, 4), compression="gzip")
        f["plain"] = data


def read(name: str) -> None:
    with h5py.File("x.h5", "r") as f:
        print(int(f[name][...].sum()))


def command(cache: Cache, *words: str | Path) -> Result:
    program = Path(sys.executable).with_name("headrace")
    stack = ("--stack", "cache(memory=64MiB,settle=0)")
    return run([program, "cache", "prefetch", *words, *stack], env=cache.env(), cwd=cache.folder)


def test_a_command_decodes_datasets(cache: Cache) -> None:
    cache.plain(make)
    done = command(cache, "x.h5", "d", "g/e", "--processes", "2")
    assert f"{2 * CHUNKS} chunks" in done.text
    for name in ("d", "g/e"):
        cache.python(partial(read, name))
    assert cache.counted("chunks_cached") == 2 * CHUNKS
    assert cache.counted("cache_hits") >= 2 * CHUNKS
    assert f"{2 * CHUNKS + 9} chunks" in command(cache, "x.h5").text
    cache.python(partial(read, "g/wide"))
    assert cache.counted("chunks_cached") == 2 * CHUNKS + 9


def test_what_it_cannot_do_is_an_error_that_says_why(cache: Cache) -> None:
    cache.plain(make)
    assert "there is no such file" in command(cache, "y.h5").text
    assert "missing" in command(cache, "x.h5", "missing").text
    program = Path(sys.executable).with_name("headrace")
    words: list[str | Path] = [program, "cache", "prefetch", "x.h5", "--stack", "null"]
    done = run(words, env=cache.env(), cwd=cache.folder)
    assert done.status == 2
    assert "no layer `cache`" in done.text


def test_a_program_says_what_it_will_need(cache: Cache) -> None:
    def train() -> None:
        with h5py.File("x.h5", "r") as f:
            headrace.prefetch(f["d"], [2999, 5, 1234, 6]).wait()
            with headrace.prefetch(f["g/e"], processes=2) as begun:
                begun.wait()
            mask = np.zeros(3000, bool)
            mask[2000] = True
            headrace.prefetch(f["g/wide"], mask).wait()
            try:
                headrace.prefetch(f["d"], [3000])
            except IndexError:
                pass
            else:
                raise AssertionError
            headrace.prefetch(f["g/e"]).stop()
            assert headrace.take(f["d"], [2999, 5])[0, 0] == 29990

    cache.plain(make)
    cache.python(train)
    found = cache.counted("chunks_cached")
    assert found == 3 + CHUNKS + 3
    cache.python(partial(read, "g/e"))
    assert cache.counted("chunks_cached") == found


def test_what_was_begun_goes_on_when_nobody_keeps_it(cache: Cache) -> None:
    def train() -> None:
        with h5py.File("x.h5", "r") as f:
            headrace.prefetch(f["d"], [2999, 5], processes=2)
            print("begun")
            input()

    cache.plain(make)
    program = cache.begin(train, cache.env("memory=64MiB;settle=0;"))
    assert program.stdout is not None
    assert program.stdout.readline() == "begun\n"
    until(lambda: cache.counted("chunks_cached") == 2)


def test_without_the_layer_nothing_is_gained_and_nothing_lost(cache: Cache) -> None:
    def train() -> None:
        with h5py.File("x.h5", "r") as f:
            headrace.prefetch(f["d"], range(10)).wait()
            print(int(f["d"][:10].sum()))

    cache.plain(make)
    assert cache.plain(train) == str(sum(range(100)))
