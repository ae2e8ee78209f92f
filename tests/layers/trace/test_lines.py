"""Which line of a program has called, below h5py and others."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import h5py
import numpy as np
import pytest
from layers.trace.conftest import Traced

H5PY = """
import h5py, threading
with h5py.File("x.h5", "w") as f:
    d = f.create_dataset("d", (10, 10))

    def write(i):
        d[i] = i  # write

    for i in range(5):
        write(i)
    thread = threading.Thread(target=write, args=(7,))
    thread.start()
    thread.join()
    d[
        3
    ]  # read
"""
NETCDF = """
import netCDF4, numpy as np
f = netCDF4.Dataset("x.nc", "w")
f.createDimension("x", 10)
v = f.createVariable("d", "f8", ("x",))
for i in range(3):
    v[i] = i  # write
f.sync()
v[:]  # read
f.close()
"""
PYTABLES = """
import tables, numpy as np
f = tables.open_file("x.h5", "w")
a = f.create_earray("/", "d", tables.Float64Atom(), (0,))
for i in range(3):
    a.append(np.arange(3.0))  # write
a[:]  # read
f.close()
"""


@pytest.mark.parametrize("text", [H5PY, NETCDF, PYTABLES], ids=["h5py", "netCDF4", "PyTables"])
def test_lines_are_those_of_the_program(text: str, layer: Traced, tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(text)
    layer.python(f"import runpy; runpy.run_path({str(program)!r})")
    calls = layer.read().calls.to_pylist()
    for name in ("write", "read"):
        of_data = {
            each["line"]
            for each in calls
            if each["call"] == f"dataset_{name}" and each["path"] == "/d"
        }
        lines = text.splitlines()
        expected = next(i for i, line in enumerate(lines, 1) if line.endswith(f"# {name}"))
        if name == "read" and lines[expected - 1].strip().startswith("]"):
            expected -= 2
        assert of_data == {f"{program}:{expected}"}


# Work that is handed to a pool as a method of a package: its threads have no frame of the program.
POOLS = {
    "h5py": """
import h5py
from concurrent.futures import ThreadPoolExecutor

with h5py.File("x.h5", "w") as f:
    f["d"] = [1.0] * 100
with h5py.File("x.h5") as f, ThreadPoolExecutor(3) as pool:
    list(pool.map(f["d"].__getitem__, range(30)))  # read
""",
    "netCDF4": """
import netCDF4
from concurrent.futures import ThreadPoolExecutor, wait

with netCDF4.Dataset("x.nc", "w") as f:
    f.createDimension("x", 100)
    f.createVariable("d", "f8", ("x",))[:] = 1
f = netCDF4.Dataset("x.nc")
with ThreadPoolExecutor(1) as pool:
    wait([pool.submit(f["d"].__getitem__, i) for i in range(30)])  # read
f.close()
""",
    "deep": """
import h5py
from multiprocessing.pool import ThreadPool

with h5py.File("x.h5", "w") as f:
    f["d"] = [1.0] * 100
    pool = ThreadPool(2)

    def down(n):
        if n:
            return down(n - 1)
        return pool.map(f["d"].__getitem__, range(30))  # read

    down(20)
    pool.close()
""",
}


@pytest.mark.parametrize("text", POOLS.values(), ids=list(POOLS))
def test_lines_of_a_pools_threads_are_where_the_program_is(
    text: str, layer: Traced, tmp_path: Path
) -> None:
    """Where it waits for the work, or hands it out; never a wrong one."""
    program = tmp_path / "program.py"
    program.write_text(text)
    layer.python(f"import runpy; runpy.run_path({str(program)!r})")
    expected = next(i for i, line in enumerate(text.splitlines(), 1) if line.endswith("# read"))
    found = [
        each["line"]
        for each in layer.read().calls.to_pylist()
        if each["call"] == "dataset_read" and each["path"] == "/d"
    ]
    assert len(found) >= 30
    assert {each for each in found if each.startswith(str(program))} == {f"{program}:{expected}"}
    assert found.count(f"{program}:{expected}") > 20, "but where the main thread went on meanwhile"


def busy_main_thread() -> None:
    def down(n: int) -> int:
        return n and down(n - 1)

    with h5py.File("x.h5", "w") as f, ThreadPoolExecutor(4) as pool:
        d = f.create_dataset("d", data=np.arange(100.0))
        work = [pool.submit(d.__getitem__, i % 100) for i in range(1000)]
        while not all(each.done() for each in work):
            exec(compile("def f(n): return n and f(n - 1)\nf(40)", "x", "exec"), {})  # noqa: S102
            threading.Thread(target=down, args=(9,)).start()


def test_a_main_thread_that_goes_on_does_no_harm(layer: Traced) -> None:
    """Its frames are read as they change; its functions come and go."""
    layer.python(busy_main_thread)
    calls = layer.read().calls.to_pylist()
    assert sum(each["call"] == "dataset_read" for each in calls) == 1000


def test_lines_are_left_out_where_nobody_wants_them(layer: Traced) -> None:
    layer.python("h5py.File('x.h5', 'w').close()", "output=traced;lines=false;")
    assert {each["line"] for each in layer.read().calls.to_pylist()} == {None}
