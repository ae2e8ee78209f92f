"""Bad settings, strings and disks: a clear error, never a crash."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from harness.report import Report
from harness.run import Result
from harness.stack import NATIVE, exported

Program = Callable[..., Result]

OPEN = "import h5py; h5py.File('x.h5', 'w').close(); print('opened')"


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
def test_bad_text_fails_the_open(program: Program, variable: str, value: str, named: str) -> None:
    done = program(OPEN, **{variable: value})
    assert done.status == 1, done.text
    assert "OSError: Unable to synchronously create file" in done.text
    assert named in done.text


def test_bad_driver_configuration_fails_the_open(program: Program) -> None:
    for text, named in (("under=none_such", "none_such"), ("unter=sec2", "unter")):
        done = program(OPEN, "null(seat=vfd)", HDF5_DRIVER_CONFIG=text)
        assert done.status == 1, done.text
        assert named in done.text


@pytest.mark.parametrize("stack", ["null(seat=vol)", "null(seat=vfd)", "null(seat=both)"])
def test_full_disk_is_told_as_on_native(program: Program, stack: str) -> None:
    text = """
        import resource, signal, h5py, numpy
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        f = h5py.File("x.h5", "w")
        resource.setrlimit(resource.RLIMIT_FSIZE, (100000, 100000))
        try:
            f["a"] = numpy.arange(100000)
            f.flush()
        except OSError as error:
            print(error.errno, str(error).split("time =")[0].split("filename")[0])
        import os; os._exit(0)
    """
    native = program(text, NATIVE)
    assert native.out.strip(), native.text
    assert program(text, stack).out == native.out


def test_relative_plugin_path(
    program: Program, tmp_path: Path, report: Callable[[], Report]
) -> None:
    folder = Path(exported("null(seat=both)")["HDF5_PLUGIN_PATH"].split(":")[0])
    (tmp_path / "lib").symlink_to(folder.parent)
    done = program(OPEN, HDF5_PLUGIN_PATH="lib/plugins")
    assert done.status == 0, done.text
    assert report().calls("vol")["file_create"] == 1


def test_private_copy_without_memory_files(
    program: Program, tmp_path: Path, report: Callable[[], Report]
) -> None:
    source = tmp_path / "no_memfd.c"
    source.write_text(
        "int memfd_create(const char *n, unsigned f) { (void)n; (void)f; return -1; }\n"
    )
    library = tmp_path / "no_memfd.so"
    compiler = shutil.which("cc")
    assert compiler, "a C compiler is missing"
    subprocess.run([compiler, "-shared", "-fPIC", "-o", library, source], check=True, timeout=60)
    done = program(
        """
        import h5py, netCDF4
        h5py.File("x.h5", "w").close()
        netCDF4.Dataset("x.nc", "w").close()
        """,
        LD_PRELOAD=str(library),
        TMPDIR=str(tmp_path),
    )
    assert done.status == 0, done.text
    assert len(report().libraries()) == 2
    assert not list(tmp_path.glob("headrace-*")), "the temporary copy is gone"
