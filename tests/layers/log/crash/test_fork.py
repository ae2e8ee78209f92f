"""A child of fork() finds what was logged before, and has no part in its parent's log."""

from __future__ import annotations

import ctypes
import os
import sys
import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import h5py
import numpy as np
import pytest

if TYPE_CHECKING:
    from harness.layer import Layer

Chunks = tuple[int, int] | None


def begin(chunks: Chunks = None) -> tuple[h5py.File, h5py.Dataset]:
    f = h5py.File("x.h5", "w")
    d = f.create_dataset("d", (100, 1000), "i4", chunks=chunks)
    d[:, ::2] = 7
    return f, d


def read_in_a_child(chunks: Chunks, end: str, log_stays: bool) -> None:
    f, d = begin(chunks)
    pid = os.fork()
    if pid == 0:
        assert d[...].sum() == 7 * 50000
        if end == "by the interpreter":
            sys.exit(0)
        if end == "closed":
            f.close()
        os._exit(0)
    d[:, 1::2] = 9
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    assert d[...].sum() == 16 * 50000
    d[5, ::3] = 1
    f.flush()
    assert Path("x.h5.headrace").exists() == log_stays
    f.close()


@pytest.mark.share(5)
@pytest.mark.parametrize("options", ["", "canonicalise=later;"])
@pytest.mark.parametrize("chunks", [None, (10, 100)])
@pytest.mark.parametrize("end", ["at once", "by the interpreter", "closed"])
def test_a_child_sees_what_was_logged(layer: Layer, chunks: Chunks, end: str, options: str) -> None:
    layer.python(partial(read_in_a_child, chunks, end, bool(options)), options)
    layer.python("h5py.File('x.h5', 'r+').close()")
    assert layer.counted("writes_logged") >= 3
    expected = 16 * 50000 - 7 * 167 - 9 * 167 + 334
    assert layer.value("f['d'][...].sum()") == str(expected)


def write_in_both() -> None:
    f, d = begin()
    pid = os.fork()
    if pid == 0:
        with h5py.File("child.h5", "w") as g:
            e = g.create_dataset("e", (50, 50), "f8")
            for k in range(50):
                e[:, k] = k
            assert (e[3] == np.arange(50)).all()
            for k in range(50):
                e[:, k] = k + 1
        os._exit(0)
    for k in range(100):
        d[k, ::2] = k
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    for k in range(100):
        d[k, 1::2] = k
    f.close()


def check_both() -> None:
    with h5py.File("x.h5") as f, h5py.File("child.h5") as g:
        assert (f["d"][...] == np.arange(100)[:, None]).all()
        assert (g["e"][...] == np.arange(50) + 1).all()


def test_both_go_on_with_logs_of_their_own(layer: Layer) -> None:
    layer.python(write_in_both)
    assert layer.counted("writes_logged") >= 201
    assert layer.plain(check_both) == ""


def is_told_what_it_lost(action: Callable[[], object]) -> bool:
    """In a child, which tells its parent by how it ends."""
    try:
        action()
    except (OSError, RuntimeError) as error:
        print(error, flush=True)
        return "x.h5 are missing in this process" in str(error)
    return False


def fork_untold() -> None:
    f, d = begin()
    fork = {"x86_64": (57,), "aarch64": (220, 17, 0, 0, 0, 0)}[os.uname().machine]
    pid = ctypes.CDLL(None).syscall(*fork)
    if pid == 0:
        values = np.zeros((100, 500), "i4")
        for action in (
            lambda: d.write_direct(values, dest_sel=np.s_[:, 1::2]),
            lambda: d[...],
            f.flush,
        ):
            if not is_told_what_it_lost(action):
                os._exit(1)
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    d[:, 1::2] = 9
    f.close()


def test_a_child_that_nobody_was_told_of(layer: Layer) -> None:
    """Functions that pthread_atfork() has registered are not called."""
    layer.python(fork_untold)
    assert layer.value("f['d'][...].sum()") == f"{16 * 50000}"


def fork_in_a_thread() -> None:
    f, d = begin()

    def fork() -> None:
        pid = os.fork()
        if pid == 0:
            for action in (lambda: d[...], f.flush):
                if not is_told_what_it_lost(action):
                    os._exit(1)
            with h5py.File("child.h5", "w") as g:
                g.create_dataset("e", (50, 50), "f8")[:, ::3] = 5
                assert g["e"][...].sum() == 5 * 17 * 50
            os._exit(0)
        statuses.append(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))

    statuses: list[int] = []
    thread = threading.Thread(target=fork)
    thread.start()
    thread.join()
    assert statuses == [0], statuses
    d[:, 1::2] = 9
    f.close()


def test_a_child_of_another_thread_is_told_what_it_lost(layer: Layer) -> None:
    """HDF5 may be at work in the thread that wrote, so the forking one leaves it alone."""
    layer.python(fork_in_a_thread)
    assert layer.value("f['d'][...].sum()") == f"{16 * 50000}"
