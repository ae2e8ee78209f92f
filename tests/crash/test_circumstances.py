"""Bad settings, strings and disks: a clear error, never a crash."""

from __future__ import annotations

import os
import resource
import signal
from pathlib import Path

import h5py
import netCDF4
import numpy as np
import pytest
from harness.stack import NATIVE, exported
from harness.stacked import Stacked
from launched import call


def make_a_file() -> None:
    h5py.File("x.h5", "w").close()
    print("opened")


@pytest.mark.parametrize(
    ("variable", "value", "named"),
    [
        ("HEADRACE_NULL_SEAT", "attic", "HEADRACE_NULL_SEAT: 'attic' is not one of vol|vfd|both"),
        ("HEADRACE_LOG_LEVEL", "", "HEADRACE_LOG_LEVEL"),
        ("HEADRACE_LOG_LEVLE", "info", "HEADRACE_LOG_LEVLE"),
        ("HDF5_VOL_CONNECTOR", "headrace_null under_vol=999", "value 999"),
        ("HDF5_VOL_CONNECTOR", "headrace_null under_vol=7200;under_info={", "'{' is not closed"),
        ("HDF5_VOL_CONNECTOR", "headrace_null seat=vol;seat=vfd", "'seat' stands twice"),
        ("HDF5_VOL_CONNECTOR", "headrace_null seet=vol", "no option 'seet'; it has: seat"),
        ("HDF5_VOL_CONNECTOR", "headrace_null " + "x" * 100000, "expected key=value"),
        ("HDF5_VOL_CONNECTOR", "headrace_null " + "under_info={" * 500, "'{' is not closed"),
    ],
)
def test_bad_text_fails_the_open(stacked: Stacked, variable: str, value: str, named: str) -> None:
    done = stacked.start(make_a_file, **{variable: value})
    assert done.status == 1, done.text
    assert "OSError: Unable to synchronously create file" in done.text
    assert named in done.text


def test_bad_driver_configuration_fails_the_open(stacked: Stacked) -> None:
    for text, named in (("under=none_such", "none_such"), ("unter=sec2", "unter")):
        done = stacked.start(make_a_file, "null(seat=vfd)", HDF5_DRIVER_CONFIG=text)
        assert done.status == 1, done.text
        assert named in done.text


def write_compressed() -> None:
    with h5py.File("x.h5", "w") as f:
        f.create_dataset("x", (10, 1000), "f8", chunks=(1, 1000), compression="gzip")
        f["x"][0] = np.arange(1000)
    with h5py.File("x.h5") as f:
        assert (f["x"][0] == np.arange(1000)).all()
    print("written")


VALUES = {"null": 7200, "model": 7202, "fault": 7204, "async": 7206, "log": 7208, "trace": 7210,
          "tune": 7212, "stripe": 7214, "pass_through": 1}  # fmt: skip


def connectors(*layers: str) -> str:
    """HDF5_VOL_CONNECTOR of a chain, without `headrace run`, which would refuse it."""
    info = "under_vol=0;under_info={}"
    for layer in reversed(layers[1:]):
        info = f"under_vol={VALUES[layer]};under_info={{{info}}}"
    return f"headrace_{layers[0]} {info}"


def drivers(*layers: str) -> tuple[str, str]:
    config = "under=sec2;under_config={}"
    for layer in reversed(layers[1:]):
        config = f"under=headrace_{layer};under_config={{{config}}}"
    return f"headrace_{layers[0]}", config


@pytest.mark.parametrize(
    "chain",
    [
        *(
            (layer, layer)
            for layer in VALUES
            if layer not in ("null", "pass_through", "trace", "fault")
        ),
        ("async", "null", "async"),
        ("async", "pass_through", "log", "async"),
        ("null", "null", "log", "async", "log"),
    ],
    ids=",".join,
)
def test_a_connector_below_itself_fails_the_open(stacked: Stacked, chain: tuple[str, ...]) -> None:
    done = stacked.start(write_compressed, HDF5_VOL_CONNECTOR=connectors(*chain))
    assert done.status == 1, done.text
    assert "OSError: Unable to synchronously create file" in done.text
    twice = next(layer for layer in chain if chain.count(layer) > 1 and layer != "null")
    assert f"connector headrace_{twice} is below itself" in done.text


@pytest.mark.parametrize("chain", [("async", "async"), ("tune", "null", "tune")], ids=",".join)
def test_a_driver_below_itself_fails_the_open(stacked: Stacked, chain: tuple[str, ...]) -> None:
    name, config = drivers(*chain)
    given = {"HDF5_DRIVER": name, "HDF5_DRIVER_CONFIG": config}
    done = stacked.start(write_compressed, "null(seat=vfd)", **given)
    assert done.status == 1, done.text
    assert f"file driver {name} is below itself" in done.text


def test_a_layer_in_both_seats_by_two_settings_is_one(stacked: Stacked) -> None:
    name, config = drivers("async")
    done = stacked.start(write_compressed, "async", HDF5_DRIVER=name, HDF5_DRIVER_CONFIG=config)
    assert done.out == b"written\n", done.text


def test_what_keeps_nothing_may_be_there_again(stacked: Stacked) -> None:
    chain = connectors("null", "async", "null", "pass_through", "log", "null")
    done = stacked.start(write_compressed, HDF5_VOL_CONNECTOR=chain)
    assert done.out == b"written\n", done.text


def fill_the_disk() -> None:
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    f = h5py.File("x.h5", "w")
    resource.setrlimit(resource.RLIMIT_FSIZE, (100000, 100000))
    try:
        f["a"] = np.arange(100000)
        f.flush()
    except OSError as error:
        told = str(error).split("time =")[0].split("filename")[0]
        print(error.errno, told, flush=True)
    os._exit(0)


@pytest.mark.parametrize("stack", ["null(seat=vol)", "null(seat=vfd)", "null(seat=both)"])
def test_full_disk_is_told_as_on_native(stacked: Stacked, stack: str) -> None:
    native = stacked.start(fill_the_disk, NATIVE)
    assert native.out.strip(), native.text
    assert stacked.start(fill_the_disk, stack).out == native.out


def test_relative_plugin_path(stacked: Stacked) -> None:
    folder = Path(exported("null(seat=both)")["HDF5_PLUGIN_PATH"].split(":")[0])
    (stacked.folder / "lib").symlink_to(folder.parent)
    done = stacked.start(make_a_file, HDF5_PLUGIN_PATH="lib/plugins")
    assert done.status == 0, done.text
    assert stacked.report.calls("vol")["file_create"] == 1


def make_files_with_two_libraries() -> None:
    h5py.File("x.h5", "w").close()
    netCDF4.Dataset("x.nc", "w").close()


def write_compressed_with_two_libraries() -> None:
    rows = np.arange(20000.0).reshape(20, 1000)
    f, g = h5py.File("x.h5", "w"), netCDF4.Dataset("x.nc", "w")
    d = f.create_dataset("x", rows.shape, "f8", chunks=(1, 1000), compression="gzip")
    for name, size in zip("rc", rows.shape, strict=True):
        g.createDimension(name, size)
    v = g.createVariable("x", "f8", ("r", "c"), zlib=True, chunksizes=(1, 1000))
    for i, row in enumerate(rows):
        d[i], v[i] = row, row
    child = os.fork()
    if child == 0:
        os._exit(0 if (d[:] == rows).all() and (v[:] == rows).all() else 1)
    assert os.waitpid(child, 0)[1] == 0
    f.close(), g.close()
    with netCDF4.Dataset("x.h5") as g, h5py.File("x.nc") as f:
        assert (g["x"][:] == rows).all()
        assert (f["x"][:] == rows).all()
    print("written")


@pytest.mark.parametrize("stack", ["async", "tune,async,log"])
def test_each_of_two_libraries_has_its_own_layer(stacked: Stacked, stack: str) -> None:
    """What a layer twice in one chain is not: the copies share nothing that a file is known by."""
    done = stacked.start(write_compressed_with_two_libraries, stack)
    assert done.out == b"written\n", done.text
    assert len(stacked.report.libraries()) == 2


def test_private_copy_without_memory_files(stacked: Stacked) -> None:
    library = stacked.folder / "no_memfd.so"
    source = Path(__file__).with_name("no_memfd.c")
    call("cc", "-shared", "-fPIC", "-o", library, source)
    done = stacked.start(
        make_files_with_two_libraries, LD_PRELOAD=str(library), TMPDIR=str(stacked.folder)
    )
    assert done.status == 0, done.text
    assert len(stacked.report.libraries()) == 2
    assert not list(stacked.folder.glob("headrace-*")), "the temporary copy is gone"
