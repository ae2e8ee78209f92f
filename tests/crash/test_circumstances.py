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
