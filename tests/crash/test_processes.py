"""Forks, threads, exits and kills."""

from __future__ import annotations

import signal
from collections.abc import Callable

import pytest
from harness.report import Report
from harness.run import Result

Program = Callable[..., Result]
Plain = Callable[[str], str]


@pytest.mark.parametrize("end", ["os._exit(0)", "sys.exit(0)"])
def test_fork_after_open(program: Program, plain: Plain, end: str) -> None:
    done = program(f"""
        import os, sys, h5py, numpy
        f = h5py.File("x.h5", "w")
        f["a"] = numpy.arange(1000)
        f.flush()
        pid = os.fork()
        if pid == 0:
            assert f["a"][:].sum() == 499500
            with h5py.File("child.h5", "w") as g:
                g["b"] = numpy.arange(10)
            f.id.close() if "_exit" not in {end!r} else None
            {end}
        assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
        f["c"] = numpy.arange(7)
        f.close()
        with h5py.File("child.h5") as g:
            assert g["b"][:].sum() == 45
    """)
    assert done.status == 0, done.text
    assert plain("f['a'][:].sum(), f['c'][:].sum()") == "499500 21"


def test_exit_with_open_files(program: Program, plain: Plain, report: Callable[[], Report]) -> None:
    done = program("""
        import h5py, numpy
        f = h5py.File("x.h5", "w")
        d = f.create_dataset("d", data=numpy.arange(100000), chunks=(1000,), compression=1)
        g = f.create_group("g")
        keep = [f, d, g, f["d"].id.get_space(), d.attrs]
    """)
    assert done.status == 0, done.text
    assert not done.err
    assert plain("f['d'][:].sum(), list(f)") == "4999950000 ['d', 'g']"
    assert report().calls("vol")["file_close"] > 0, "HDF5 closed the file while the program ended"
    assert report().calls("vfd")["close"] > 0


def test_threads_under_the_lock_of_h5py(program: Program, plain: Plain) -> None:
    done = program("""
        import threading, h5py, numpy
        f = h5py.File("x.h5", "w")
        wrong = []
        def work(n):
            for i in range(40):
                d = f.create_dataset(f"t{n}/{i}", data=numpy.full(500, n * 100 + i), chunks=(50,))
                d.attrs["n"] = n
                if d[::7].sum() != (n * 100 + i) * 72 or d.attrs["n"] != n:
                    wrong.append((n, i))
        threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
        for t in threads: t.start()
        for t in threads: t.join()
        f.close()
        assert not wrong, wrong
    """)
    assert done.status == 0, done.text
    total = sum((n * 100 + i) * 500 for n in range(8) for i in range(40))
    assert plain("sum(int(d[:].sum()) for g in f.values() for d in g.values())") == str(total)


def test_kill_keeps_what_was_flushed(program: Program, plain: Plain) -> None:
    done = program("""
        import os, signal, h5py, numpy
        f = h5py.File("x.h5", "w")
        f["a"] = numpy.arange(5000)
        f.flush()
        f["b"] = numpy.arange(5000)
        os.kill(os.getpid(), signal.SIGKILL)
    """)
    assert done.status == -signal.SIGKILL
    # What follows a flush may or may not have arrived, as on native HDF5.
    assert plain("f['a'][:].sum()") == "12497500"


def test_two_libraries_in_one_process(program: Program, report: Callable[[], Report]) -> None:
    for order in ("h5py, netCDF4", "netCDF4, h5py"):
        done = program(f"""
            import {order}, numpy
            n = netCDF4.Dataset("x.nc", "w"); n.createDimension("x", 10)
            n.createVariable("v", "f8", ("x",))[:] = numpy.arange(10)
            f = h5py.File("x.h5", "w"); f["a"] = numpy.arange(5)
            n.close(); f.close()
            assert netCDF4.Dataset("x.h5")["a"][:].sum() == 10
            assert h5py.File("x.nc")["v"][:].sum() == 45
        """)
        assert done.status == 0, done.text
    libraries = report().libraries()
    assert len(libraries) == 2, libraries
    assert any("h5py" in path for path in libraries)
    for library in libraries:
        versions = {load["version"] for load in report().select("load", hdf5=library)}
        assert len(versions) == 1, "each library was bound to itself"
    assert len(report().select("counts", seat="vol")) == 4
