"""Which line of a program has called, below h5py and others."""

from __future__ import annotations

from pathlib import Path

import pytest
from tracing.conftest import Traced

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


def test_lines_are_left_out_where_nobody_wants_them(layer: Traced) -> None:
    layer.python("h5py.File('x.h5', 'w').close()", "output=traced;lines=false;")
    assert {each["line"] for each in layer.read().calls.to_pylist()} == {None}
