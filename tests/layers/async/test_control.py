"""Programs wait for the layer, pause it and ask it, in C and in Python."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import h5py
import netCDF4
import numpy as np
import pytest
from harness.build import ROOT, built
from harness.layer import NATIVE_BELOW, Layer, Options, async_over
from harness.until import until

import headrace

if TYPE_CHECKING:
    from collections.abc import Callable

    from harness.prefix import Hdf5
    from harness.run import Result

OPTIONS = "budget=1GiB;flush_interval=50ms;"


def make_values() -> np.ndarray:
    return (np.arange(1_000_000) * 31 + 1).astype("i4")


def control(layer: Layer, hdf5: Hdf5, what: str, options: Options = OPTIONS) -> Result:
    program = built(f"tests/layers/async/control_{hdf5.mpi}")
    done = layer.command([program, layer.folder / "x.h5", what], options, limit=60)
    assert done.status == 0, done.text
    assert done.out.decode().endswith("good\n")
    return done


def require_values(file: Path, *names: str) -> None:
    """By the wheel's HDF5, with no plug-in."""
    with h5py.File(file) as opened:
        assert sorted(opened) == sorted(names)
        for name in names:
            assert np.array_equal(opened[name][:], make_values()), name


def test_without_the_layer_nothing_is_done(hdf5: Hdf5, layer: Layer) -> None:
    done = control(layer, hdf5, "native", None)
    assert done.out == b"good\n"
    assert done.err == b""


def test_a_native_file_beside_the_layers(hdf5: Hdf5, layer: Layer) -> None:
    assert control(layer, hdf5, "beside").err == b""


@pytest.mark.parametrize("what", ["wait", "nest", "end"])
def test_c(hdf5: Hdf5, layer: Layer, what: str) -> None:
    assert control(layer, hdf5, what).err == b""
    require_values(layer.folder / "x.h5", "plain", "packed")


def test_a_fork_while_paused(hdf5: Hdf5, layer: Layer) -> None:
    control(layer, hdf5, "split")
    require_values(layer.folder / "x.h5", "plain", "packed")
    require_values(layer.folder / "x.h5.second", "plain", "packed", "more")


def test_the_largest_budget_holds(hdf5: Hdf5, layer: Layer) -> None:
    control(layer, hdf5, "share")
    require_values(layer.folder / "x.h5", "plain")


def test_each_file_has_its_chunk_cache(hdf5: Hdf5, layer: Layer) -> None:
    control(layer, hdf5, "caches")
    for name in ("x.h5", "x.h52", "x.h523"):
        require_values(layer.folder / name, "packed")


def test_a_wait_tells_what_failed(hdf5: Hdf5, tmp_path: Path) -> None:
    fault = "kind=error;op=write;first=2;count=1;errno=ENOSPC"
    layer = async_over(tmp_path, f"under_vol=7204;under_info={{{fault};{NATIVE_BELOW}}}")
    text = control(layer, hdf5, "fail").out.decode()
    assert "x.h5 failed" in text
    assert "ENOSPC" in text
    require_values(tmp_path / "x.h5", "plain")


def python(layer: Layer, program: Callable[[], None], options: Options = OPTIONS) -> Result:
    """With the package of this checkout."""
    return layer.python(program, options, PYTHONPATH=str(ROOT / "python"))


def failure(call: Callable[[], object]) -> Exception | None:
    """What the call raises."""
    try:
        call()
    except Exception as error:
        return error
    return None


def create_packed(file: h5py.File) -> Any:
    return file.create_dataset("packed", (1_000_000,), "i4", chunks=(10_000,), compression=1)


def size_of(name: str) -> int:
    return Path(name).stat().st_size


def pause_and_wait() -> None:
    values = make_values()
    with h5py.File("x.h5", "w") as f:
        packed = create_packed(f)
        with headrace.paused(f):
            f["plain"] = values
            with headrace.paused(f):
                packed[:] = values
            time.sleep(0.2)  # four times the flush_interval, and nothing may happen
            seen = headrace.progress(f)
            assert seen.layer, seen
            assert seen.chunks == values.nbytes, seen
            assert seen.accepted == seen.stored + seen.staged, seen
            assert seen.staged >= values.nbytes, seen
            assert seen.memory >= seen.staged, seen
            headrace.wait(f)
            seen = headrace.progress(f)
            assert seen.staged == seen.chunks == 0, seen
            assert seen.stored > values.nbytes, seen
            assert size_of("x.h5") > values.nbytes
        error = failure(lambda: headrace.resume(f))
        assert isinstance(error, headrace.CallError)
        assert "the file is not paused" in str(error)
        assert headrace.why_not(packed) == ""
        assert headrace.why_not(f["plain"]) == "layout"
        assert headrace.progress(f["plain"]).layer


def test_python(layer: Layer) -> None:
    python(layer, pause_and_wait)
    require_values(layer.folder / "x.h5", "plain", "packed")


def close_and_fork_while_paused() -> None:
    values = make_values()
    f = h5py.File("x.h5", "w")
    with headrace.paused(f):
        create_packed(f)[:] = values
        if os.fork() == 0:
            with h5py.File("child.h5", "w") as own:
                create_packed(own)[:] = values
                headrace.wait(own)
            os._exit(0)
        assert os.wait()[1] == 0
        f["plain"] = values
        f.close()
    # The pause has ended with the file.
    with h5py.File("y.h5", "w") as g:
        g["plain"] = values
        until(lambda: headrace.progress(g).staged <= 100_000, 20)
    assert isinstance(failure(lambda: headrace.wait(f)), ValueError), "it is closed"


def test_python_closes_and_forks_while_paused(layer: Layer) -> None:
    python(layer, close_and_fork_while_paused)
    require_values(layer.folder / "x.h5", "plain", "packed")
    require_values(layer.folder / "child.h5", "packed")
    require_values(layer.folder / "y.h5", "plain")


def without_the_driver(folder: Path, below: str = NATIVE_BELOW) -> Layer:
    return Layer(folder, "async", ("vol",), "seat=vol;", below=below)


def wait_for_chunks() -> None:
    values = make_values()
    with h5py.File("x.h5", "w") as f:
        packed = create_packed(f)
        with headrace.paused(f):
            packed[:] = values
            assert headrace.progress(f).chunks == values.nbytes
            size = size_of("x.h5")
            headrace.wait(f)
            assert headrace.progress(f).chunks == 0
            assert size_of("x.h5") > size + 1_000_000


def test_python_without_the_driver(tmp_path: Path) -> None:
    """Chunks are waited for and stored where the file itself is written by HDF5 alone."""
    python(without_the_driver(tmp_path), wait_for_chunks, ...)
    require_values(tmp_path / "x.h5", "packed")


def wait_twice() -> None:
    f = h5py.File("x.h5", "w")
    create_packed(f)[:] = make_values()
    first, second = failure(lambda: headrace.wait(f)), failure(lambda: headrace.wait(f))
    assert isinstance(first, headrace.CallError), first
    assert "/packed" in str(first), first
    assert "x.h5" in str(first), first
    assert second is None, second
    f.flush()


def test_a_chunk_that_cannot_be_stored_is_told_by_the_wait(tmp_path: Path) -> None:
    fault = "kind=error;op=write;type=raw;first=20;count=1;errno=ENOSPC"
    below = f"under_vol=7204;under_info={{{fault};{NATIVE_BELOW}}}"
    python(without_the_driver(tmp_path, below), wait_twice, ...)


def pause_and_wait_by_netcdf4() -> None:
    values = make_values()
    with netCDF4.Dataset("x.h5", "w") as f:
        f.createDimension("x", len(values))
        with headrace.paused(f):
            f.createVariable("plain", "i4", ("x",))[:] = values
            assert headrace.progress(f).staged >= values.nbytes
            headrace.wait(f)
            assert headrace.progress(f).staged == 0
            assert size_of("x.h5") > values.nbytes
    with netCDF4.Dataset("y.nc", "w", format="NETCDF3_CLASSIC") as f:
        headrace.wait(f)
        assert not headrace.progress(f).layer


def test_netcdf4(layer: Layer) -> None:
    python(layer, pause_and_wait_by_netcdf4)
    with h5py.File(layer.folder / "x.h5") as opened:
        assert np.array_equal(opened["plain"][:], make_values())


def pause_and_wait_for_nothing() -> None:
    with h5py.File("x.h5", "w") as f, headrace.paused(f):
        f["plain"] = make_values()
        headrace.wait(f)
        assert headrace.progress(f) == headrace.Progress()
        assert headrace.why_not(f["plain"]) is None
    assert isinstance(failure(lambda: headrace.wait(3)), TypeError), "it is no file"


def test_python_without_the_layer(layer: Layer) -> None:
    assert python(layer, pause_and_wait_for_nothing, None).text == ""
    require_values(layer.folder / "x.h5", "plain")
