"""Programs wait for the layer, pause it and ask it, in C and in Python."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

import h5py
import numpy as np
import pytest
from async_layer import ROOT
from harness.prefix import Hdf5
from harness.run import Result, run
from harness.stack import CLEAN

if TYPE_CHECKING:
    from pathlib import Path

    from async_layer import Async

BUILD = ROOT / "build/dev"
COUNT = 1_000_000
VALUES = (np.arange(COUNT) * 31 + 1).astype("i4")
OPTIONS = "seat=both;budget=1GiB;flush_interval=50ms;"
NATIVE = "under_vol=0;under_info={}"


def control(hdf5: Hdf5, folder: Path, what: str, layer: str | None = OPTIONS + NATIVE) -> Result:
    env = {**CLEAN, "HEADRACE_REPORT": str(folder / "report")}
    if layer is not None:
        env |= {
            "HDF5_PLUGIN_PATH": str(BUILD / "lib/plugins"),
            "HDF5_VOL_CONNECTOR": f"headrace_async {layer}",
        }
    program = BUILD / f"tests/async/control_{hdf5.mpi}"
    done = run([program, folder / "x.h5", what], env=env, cwd=folder, limit=60)
    assert done.status == 0, done.text
    assert done.out.decode().endswith("good\n")
    if layer is not None:
        report = (folder / "report").read_text().splitlines()
        loads = {
            f"{e['seat']} {e['name']}" for e in map(json.loads, report) if e["event"] == "load"
        }
        assert {"vol headrace_async", "vfd headrace_async"} <= loads
    return done


def require_values(file: Path, *names: str) -> None:
    """By the wheel's HDF5, with no plug-in."""
    with h5py.File(file) as opened:
        assert sorted(opened) == sorted(names)
        for name in names:
            assert np.array_equal(opened[name][:], VALUES), name


def test_without_the_layer_nothing_is_done(hdf5: Hdf5, tmp_path: Path) -> None:
    done = control(hdf5, tmp_path, "native", None)
    assert done.out == b"good\n"
    assert done.err == b""


def test_a_native_file_beside_the_layers(hdf5: Hdf5, tmp_path: Path) -> None:
    assert control(hdf5, tmp_path, "beside").err == b""


@pytest.mark.parametrize("what", ["wait", "nest", "end"])
def test_c(hdf5: Hdf5, tmp_path: Path, what: str) -> None:
    assert control(hdf5, tmp_path, what).err == b""
    require_values(tmp_path / "x.h5", "plain", "packed")


def test_a_fork_while_paused(hdf5: Hdf5, tmp_path: Path) -> None:
    control(hdf5, tmp_path, "split")
    require_values(tmp_path / "x.h5", "plain", "packed")
    require_values(tmp_path / "x.h5.second", "plain", "packed", "more")


def test_the_largest_budget_holds(hdf5: Hdf5, tmp_path: Path) -> None:
    control(hdf5, tmp_path, "share")
    require_values(tmp_path / "x.h5", "plain")


def test_each_file_has_its_chunk_cache(hdf5: Hdf5, tmp_path: Path) -> None:
    control(hdf5, tmp_path, "caches")
    for name in ("x.h5", "x.h52", "x.h523"):
        require_values(tmp_path / name, "packed")


def test_a_wait_tells_what_failed(hdf5: Hdf5, tmp_path: Path) -> None:
    fault = "kind=error;op=write;first=2;count=1;errno=ENOSPC"
    below = f"under_vol=7204;under_info={{{fault};{NATIVE}}}"
    done = control(hdf5, tmp_path, "fail", OPTIONS + below)
    text = done.out.decode()
    assert "x.h5 failed" in text
    assert "ENOSPC" in text
    require_values(tmp_path / "x.h5", "plain")


PROGRAM = """
import os, time, h5py, headrace, numpy as np
values = (np.arange(1_000_000) * 31 + 1).astype("i4")
"""


def python(layer: Async, text: str, options: str = OPTIONS) -> str:
    """What a program prints under the layer."""
    path = f"import sys; sys.path.insert(0, {str(ROOT / 'python')!r})"
    done = layer.python("\n".join([path, PROGRAM, text]), options.removeprefix("seat=both;"))
    return str(done.out.decode().strip())


def test_python(layer: Async) -> None:
    python(
        layer,
        """
with h5py.File("x.h5", "w") as f:
    packed = f.create_dataset("packed", shape=values.shape, dtype="i4", chunks=(10_000,),
                              compression=1)
    with headrace.paused(f):
        f["plain"] = values
        with headrace.paused(f):
            packed[:] = values
        time.sleep(0.2)
        seen = headrace.progress(f)
        assert seen.layer and seen.chunks == values.nbytes, seen
        assert seen.accepted == seen.stored + seen.staged, seen
        assert seen.staged >= values.nbytes and seen.memory >= seen.staged, seen
        headrace.wait(f)
        seen = headrace.progress(f)
        assert seen.staged == seen.chunks == 0 and seen.stored > values.nbytes, seen
        assert os.stat("x.h5").st_size > values.nbytes
    try:
        headrace.resume(f)
        raise AssertionError("it was not paused")
    except headrace.CallError as error:
        assert "the file is not paused" in str(error)
    assert headrace.why_not(packed) == ""
    assert headrace.why_not(f["plain"]) == "layout"
    assert headrace.progress(f["plain"]).layer
""",
    )
    require_values(layer.folder / "x.h5", "plain", "packed")


def test_python_closes_and_forks_while_paused(layer: Async) -> None:
    python(
        layer,
        """
f = h5py.File("x.h5", "w")
with headrace.paused(f):
    f.create_dataset("packed", data=values, chunks=(10_000,), compression=1)
    if os.fork() == 0:
        with h5py.File("child.h5", "w") as own:
            own.create_dataset("packed", data=values, chunks=(10_000,), compression=1)
            headrace.wait(own)
        os._exit(0)
    assert os.wait()[1] == 0
    f["plain"] = values
    f.close()
# The pause has ended with the file.
with h5py.File("y.h5", "w") as g:
    g["plain"] = values
    end = time.monotonic() + 20
    while headrace.progress(g).staged > 100_000:
        assert time.monotonic() < end
        time.sleep(0.01)
try:
    headrace.wait(f)
    raise AssertionError("it is closed")
except ValueError:
    pass
""",
    )
    require_values(layer.folder / "x.h5", "plain", "packed")
    require_values(layer.folder / "child.h5", "packed")
    require_values(layer.folder / "y.h5", "plain")


def test_python_without_the_driver(layer: Async) -> None:
    """Chunks are waited for and stored where the file itself is written by HDF5 alone."""
    text = """
with h5py.File("x.h5", "w") as f:
    packed = f.create_dataset("packed", shape=values.shape, dtype="i4", chunks=(10_000,),
                              compression=1)
    with headrace.paused(f):
        packed[:] = values
        assert headrace.progress(f).chunks == values.nbytes
        size = os.stat("x.h5").st_size
        headrace.wait(f)
        assert headrace.progress(f).chunks == 0
        assert os.stat("x.h5").st_size > size + 1_000_000
"""
    path = f"import sys; sys.path.insert(0, {str(ROOT / 'python')!r})"
    env = {**layer.env(""), "HDF5_VOL_CONNECTOR": f"headrace_async seat=vol;{NATIVE}"}
    done = run([sys.executable, "-c", path + PROGRAM + text], env=env, cwd=layer.folder, limit=60)
    assert done.status == 0, done.text
    assert any(e["event"] == "load" and e["name"] == "headrace_async" for e in layer.report)
    require_values(layer.folder / "x.h5", "packed")


def test_a_chunk_that_cannot_be_stored_is_told_by_the_wait(layer: Async) -> None:
    text = """
f = h5py.File("x.h5", "w")
packed = f.create_dataset("packed", shape=values.shape, dtype="i4", chunks=(10_000,),
                          compression=1)
packed[:] = values
told = []
for i in range(2):
    try:
        headrace.wait(f)
        told.append("nothing")
    except headrace.CallError as error:
        told.append(str(error))
assert "/packed" in told[0] and "x.h5" in told[0], told
assert told[1] == "nothing", told
f.flush()
"""
    path = f"import sys; sys.path.insert(0, {str(ROOT / 'python')!r})"
    fault = "kind=error;op=write;type=raw;first=20;count=1;errno=ENOSPC"
    info = f"headrace_async seat=vol;under_vol=7204;under_info={{{fault};{NATIVE}}}"
    env = {**layer.env(""), "HDF5_VOL_CONNECTOR": info}
    done = run([sys.executable, "-c", path + PROGRAM + text], env=env, cwd=layer.folder, limit=60)
    assert done.status == 0, done.text
    assert any(e["event"] == "load" and e["name"] == "headrace_async" for e in layer.report)


def test_netcdf4(layer: Async) -> None:
    python(
        layer,
        """
import netCDF4
with netCDF4.Dataset("x.h5", "w") as f:
    f.createDimension("x", len(values))
    with headrace.paused(f):
        f.createVariable("plain", "i4", ("x",))[:] = values
        assert headrace.progress(f).staged >= values.nbytes
        headrace.wait(f)
        assert headrace.progress(f).staged == 0
        assert os.stat("x.h5").st_size > values.nbytes
with netCDF4.Dataset("y.nc", "w", format="NETCDF3_CLASSIC") as f:
    headrace.wait(f)
    assert not headrace.progress(f).layer
""",
    )
    with h5py.File(layer.folder / "x.h5") as opened:
        assert np.array_equal(opened["plain"][:], VALUES)


def test_python_without_the_layer(layer: Async) -> None:
    path = f"import sys; sys.path.insert(0, {str(ROOT / 'python')!r})"
    text = """
with h5py.File("x.h5", "w") as f, headrace.paused(f):
    f["plain"] = values
    headrace.wait(f)
    assert headrace.progress(f) == headrace.Progress()
    assert headrace.why_not(f["plain"]) is None
try:
    headrace.wait(3)
    raise AssertionError("it is no file")
except TypeError:
    pass
"""
    done = run([sys.executable, "-c", path + PROGRAM + text], env=CLEAN, cwd=layer.folder, limit=60)
    assert done.status == 0, done.text
    assert done.text == ""
    require_values(layer.folder / "x.h5", "plain")


@pytest.fixture
def kinds(tmp_path: Path) -> Path:
    file = tmp_path / "kinds.h5"
    with h5py.File(file, "w") as f:
        a = np.arange(1000.0)
        f["contiguous"] = a
        f.create_dataset("chunked", data=a, chunks=(100,))
        f.create_dataset("g/gzip", data=a, chunks=(100,), compression="gzip", shuffle=True)
        f.create_dataset("g/scaled", data=a, chunks=(100,), scaleoffset=2)
        f.create_dataset("strings", data=["a", "b"], chunks=(1,), compression="gzip")
        f.create_dataset("large", shape=(10**7,), dtype="f8", chunks=(2_000_000,), compression=1)
    return file


def doctor(file: Path, *options: str) -> Result:
    env = {**CLEAN, "PYTHONPATH": str(ROOT / "python"), "COLUMNS": "200"}
    program = [sys.executable, "-c", "from headrace.cli import app; app()"]
    return run([*program, "doctor", "--file", file, *options], env=env, cwd=file.parent, limit=60)


def test_the_doctor_tells_what_is_taken_over(kinds: Path) -> None:
    done = doctor(kinds, "--stack", "async(chunk_cache=12MiB)", "--json")
    assert done.status == 0, done.text
    told = {one["dataset"]: one["why_not"] for one in json.loads(done.out)["datasets"]}
    assert told == {
        "/chunked": "filters",
        "/contiguous": "layout",
        "/g/gzip": "",
        "/g/scaled": "filters",
        "/large": "chunk_cache",
        "/strings": "datatype",
    }
    lines = doctor(kinds).out.decode().splitlines()
    (row,) = [line.split() for line in lines if line.startswith("/g/gzip")]
    assert row == ["/g/gzip", "100", "shuffle,", "deflate", "yes"]
    (row,) = [line.split() for line in lines if line.startswith("/chunked")]
    assert "it has no filters" in " ".join(row)
    without = doctor(kinds, "--stack", "async(filters=false)", "--json")
    assert {one["why_not"] for one in json.loads(without.out)["datasets"]} == {"file"}


def test_the_doctor_says_what_it_cannot_tell(kinds: Path) -> None:
    for options, words in (
        (("--stack", "async(seat=vfd)"), "no async layer"),
        (("--", "true"), "not both"),
    ):
        done = doctor(kinds, *options)
        assert done.status == 2
        assert words in done.err.decode()
    done = doctor(kinds.with_name("missing.h5"))
    assert done.status == 2
    assert "missing.h5" in done.err.decode()
