"""Forks, threads, exits and kills."""

from __future__ import annotations

import importlib
import os
import signal
import sys
import threading
from functools import partial

import h5py
import numpy as np
import pytest
from harness.stacked import Stacked


def fork_with_an_open_file(end: str) -> None:
    f = h5py.File("x.h5", "w")
    f["a"] = np.arange(1000)
    f.flush()
    pid = os.fork()
    if pid == 0:
        assert f["a"][:].sum() == 499500
        with h5py.File("child.h5", "w") as g:
            g["b"] = np.arange(10)
        if end == "_exit":
            os._exit(0)
        f.id.close()
        sys.exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    f["c"] = np.arange(7)
    f.close()
    with h5py.File("child.h5") as g:
        assert g["b"][:].sum() == 45


@pytest.mark.parametrize("end", ["_exit", "exit"])
def test_fork_after_open(stacked: Stacked, end: str) -> None:
    done = stacked.start(partial(fork_with_an_open_file, end))
    assert done.status == 0, done.text
    assert stacked.value("f['a'][:].sum(), f['c'][:].sum()") == "499500 21"


def leave_all_open() -> None:
    f = h5py.File("x.h5", "w")
    d = f.create_dataset("d", data=np.arange(100000), chunks=(1000,), compression=1)
    g = f.create_group("g")
    keep = [f, d, g, f["d"].id.get_space(), d.attrs]  # noqa: F841, until the process ends


def test_exit_with_open_files(stacked: Stacked) -> None:
    done = stacked.start(leave_all_open)
    assert done.status == 0, done.text
    assert not done.err
    assert stacked.value("f['d'][:].sum(), list(f)") == "4999950000 ['d', 'g']"
    calls = stacked.report.calls
    assert calls("vol")["file_close"] > 0, "HDF5 closed the file while the program ended"
    assert calls("vfd")["close"] > 0


def write_in_threads() -> None:
    f = h5py.File("x.h5", "w")
    wrong = []

    def work(n: int) -> None:
        for i in range(40):
            d = f.create_dataset(f"t{n}/{i}", data=np.full(500, n * 100 + i), chunks=(50,))
            d.attrs["n"] = n
            if d[::7].sum() != (n * 100 + i) * 72 or d.attrs["n"] != n:
                wrong.append((n, i))

    threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    f.close()
    assert not wrong, wrong


def test_threads_under_the_lock_of_h5py(stacked: Stacked) -> None:
    done = stacked.start(write_in_threads)
    assert done.status == 0, done.text
    total = sum((n * 100 + i) * 500 for n in range(8) for i in range(40))
    found = stacked.value("sum(int(d[:].sum()) for g in f.values() for d in g.values())")
    assert found == str(total)


def be_killed_after_a_flush() -> None:
    f = h5py.File("x.h5", "w")
    f["a"] = np.arange(5000)
    f.flush()
    f["b"] = np.arange(5000)
    os.kill(os.getpid(), signal.SIGKILL)


def test_kill_keeps_what_was_flushed(stacked: Stacked) -> None:
    done = stacked.start(be_killed_after_a_flush)
    assert done.status == -signal.SIGKILL
    # What follows a flush may or may not have arrived, as on native HDF5.
    assert stacked.value("f['a'][:].sum()") == "12497500"


def write_with_two_libraries(first: str, second: str) -> None:
    modules = {name: importlib.import_module(name) for name in (first, second)}
    hdf5, netcdf = modules["h5py"], modules["netCDF4"]
    n = netcdf.Dataset("x.nc", "w")
    n.createDimension("x", 10)
    n.createVariable("v", "f8", ("x",))[:] = np.arange(10)
    f = hdf5.File("x.h5", "w")
    f["a"] = np.arange(5)
    n.close()
    f.close()
    assert netcdf.Dataset("x.h5")["a"][:].sum() == 10
    assert hdf5.File("x.nc")["v"][:].sum() == 45


def test_two_libraries_in_one_process(stacked: Stacked) -> None:
    for order in (("h5py", "netCDF4"), ("netCDF4", "h5py")):
        done = stacked.start(partial(write_with_two_libraries, *order))
        assert done.status == 0, done.text
    report = stacked.report
    libraries = report.libraries()
    assert len(libraries) == 2, libraries
    assert any("h5py" in path for path in libraries)
    for library in libraries:
        versions = {load["version"] for load in report.select("load", hdf5=library)}
        assert len(versions) == 1, "each library was bound to itself"
    assert len(report.select("counts", seat="vol")) == 4
