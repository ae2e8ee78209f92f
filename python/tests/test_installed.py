"""The real plug-ins under the real h5py and netCDF4. Fails, not skips, where they are not built."""

import json
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import Any

import pytest
from support import Headrace, clean_environment

import headrace

_CHECKOUT = Path(__file__).parents[2]

_H5PY = """
import sys, h5py
with h5py.File(sys.argv[1], "w") as f:
    f["numbers"] = range(1000)
with h5py.File(sys.argv[1], "r") as f:
    print(f["numbers"][999])
"""
_NETCDF4 = """
import sys, netCDF4
with netCDF4.Dataset(sys.argv[1], "w") as f:
    f.createDimension("x", 1000)
    f.createVariable("numbers", "i4", ("x",), compression="zstd")[:] = range(1000)
with netCDF4.Dataset(sys.argv[1], "r") as f:
    print(int(f["numbers"][999]))
"""

# The wheel's own, with which plain h5py reads what netCDF4 compressed.
_NETCDF4_FILTERS = Path(sysconfig.get_path("platlib")) / "netCDF4/plugins"

Seats = set[tuple[str, str]]


def _seats(report: Path, event: str) -> Seats:
    lines = [json.loads(line) for line in report.read_text().splitlines()]
    return {(line["seat"], line["name"]) for line in lines if line["event"] == event}


_VOL = ("vol", "headrace_null")
_VFD = ("vfd", "headrace_null")


@pytest.mark.parametrize("program", [_H5PY, _NETCDF4], ids=["h5py", "netCDF4"])
@pytest.mark.parametrize(
    ("stack", "seats"),
    [
        ("null", {_VOL, _VFD}),
        ("null(seat=vol)", {_VOL}),
        ("null(seat=vfd)", {_VFD}),
        ("null(seat=vol),null(seat=vfd)", {_VOL, _VFD}),
        ("null,null,null", {_VOL, _VFD}),
        ("null,pass_through", {_VOL, _VFD}),
        ("pass_through,null", {_VOL, _VFD}),
        ("pass_through,null(seat=vol)", {_VOL}),
        ("pass_through,null,pass_through,null(seat=vol)", {_VOL, _VFD}),
    ],
)
def test_files_really_go_through_the_stack(
    installed_headrace: Headrace, tmp_path: Path, program: str, stack: str, seats: Seats
) -> None:
    report = tmp_path / "report"
    arguments = [sys.executable, "-c", program, str(tmp_path / "file")]
    # glibc fills what it allocates: HDF5's pass_through hands on an undefined byte, which must not
    # work by luck.
    environ = {"HEADRACE_REPORT": str(report), "MALLOC_PERTURB_": "85"}
    done = installed_headrace("run", "--stack", stack, "--", *arguments, env=environ)
    assert (done.returncode, done.stdout, done.stderr) == (0, "999\n", "")
    assert _seats(report, "load") == seats
    assert _seats(report, "file") == seats
    read = "import sys, h5py; print(h5py.File(sys.argv[1])['numbers'][5])"
    plain = subprocess.run(
        [sys.executable, "-c", read, arguments[-1]],
        env=clean_environment() | {"HDF5_PLUGIN_PATH": str(_NETCDF4_FILTERS)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert plain.stdout == "5\n"


def test_natively_nothing_is_reported(tmp_path: Path) -> None:
    report = tmp_path / "report"
    subprocess.run(
        [sys.executable, "-c", _H5PY, str(tmp_path / "file")],
        env=clean_environment() | {"HEADRACE_REPORT": str(report)},
        check=True,
    )
    assert not report.exists()


_ENABLE = """
import os, sys
import headrace
headrace.enable("null", report=sys.argv[1])
import h5py, netCDF4
headrace.enable("null", report=sys.argv[1])
with h5py.File(sys.argv[2] + ".h5", "w") as f:
    f["a"] = 1
with netCDF4.Dataset(sys.argv[2] + ".nc", "w") as f:
    f.createDimension("x", 1)
try:
    headrace.enable("null(seat=vol)")
except headrace.AlreadyInitialisedError as error:
    print(error)
"""


def test_enable_serves_both_wheels_in_one_process(
    installed_headrace: Headrace, tmp_path: Path
) -> None:
    report = tmp_path / "report"
    done = subprocess.run(
        [sys.executable, "-c", _ENABLE, str(report), str(tmp_path / "file")],
        env=clean_environment(),
        capture_output=True,
        text=True,
        check=True,
    )
    assert "h5py.libs/libhdf5" in done.stdout
    assert "before `import h5py`" in done.stdout
    loads = [
        line
        for line in map(json.loads, report.read_text().splitlines())
        if line["event"] == "load" and line["seat"] == "vol"
    ]
    assert len({line["hdf5"] for line in loads}) == 2
    assert _seats(report, "file") == {_VOL, _VFD}


def test_enable_after_import_is_an_error_that_says_what_to_do(
    installed_headrace: Headrace,
) -> None:
    code = "import h5py, headrace; headrace.enable('null')"
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=clean_environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert "AlreadyInitialisedError: HDF5 is initialised already, in /" in done.stderr
    assert "call headrace.enable() before `import h5py`" in done.stderr


@pytest.mark.parametrize(
    ("stack", "connector"),
    [("null", "headrace_null"), ("null(seat=vfd)", "native"), ("pass_through", "pass_through")],
)
def test_the_doctor_finds_everything_well(
    installed_headrace: Headrace, stack: str, connector: str
) -> None:
    done = installed_headrace("doctor", "--stack", stack)
    assert done.returncode == 0, done.stdout
    assert "problem" not in done.stdout
    assert f"HDF5 names its connector {connector}" in done.stdout
    assert "serial, not thread-safe, loaded by h5py" in done.stdout
    assert "loaded by netCDF4" in done.stdout


@pytest.mark.parametrize(
    ("program", "text"),
    [
        (["env", "-u", "HDF5_VOL_CONNECTOR"], "HDF5_VOL_CONNECTOR was unset"),
        (["env", "-u", "HDF5_PLUGIN_PATH"], "HDF5_PLUGIN_PATH was unset"),
        (["env", "HDF5_PLUGIN_PRELOAD=::"], "HDF5_PLUGIN_PRELOAD was changed to ::"),
        (["env", "HDF5_VOL_CONNECTOR=native"], "HDF5_VOL_CONNECTOR was changed to native"),
    ],
)
def test_the_doctor_tells_why_nothing_happened(
    installed_headrace: Headrace, tmp_path: Path, program: list[str], text: str
) -> None:
    command = [*program, sys.executable, "-c", _H5PY, str(tmp_path / "file")]
    done = installed_headrace("doctor", "--", *command)
    assert done.returncode == 1
    assert "did not load headrace_null (VOL)" in done.stdout
    assert text in done.stdout


def test_the_doctor_sees_a_connector_of_the_programs_own(
    installed_headrace: Headrace, tmp_path: Path
) -> None:
    code = """
import sys, ctypes, h5py
from headrace.libraries import loaded_hdf5
library = ctypes.CDLL(str(loaded_hdf5()[0].file))
fapl = h5py.h5p.create(h5py.h5p.FILE_ACCESS)
library.H5VLget_connector_id_by_name.restype = ctypes.c_int64
native = library.H5VLget_connector_id_by_name(b"native")
library.H5Pset_vol.argtypes = (ctypes.c_int64, ctypes.c_int64, ctypes.c_void_p)
assert library.H5Pset_vol(fapl.id, native, None) >= 0
h5py.h5f.create(sys.argv[1].encode(), h5py.h5f.ACC_TRUNC, fapl=fapl)
"""
    done = installed_headrace("doctor", "--", sys.executable, "-c", code, str(tmp_path / "file"))
    assert done.returncode == 1, done.stderr
    assert "the plug-ins were loaded, but no file went through them" in done.stdout


def test_the_old_hdf5_of_the_system_is_called_too_old(
    installed_headrace: Headrace, tmp_path: Path
) -> None:
    file = tmp_path / "file"
    subprocess.run([sys.executable, "-c", _H5PY, str(file)], env=clean_environment(), check=True)
    done = installed_headrace("doctor", "--", "/usr/bin/h5ls", str(file))
    assert done.returncode == 1
    assert "is HDF5 1.10." in done.stdout
    assert "too old" in done.stdout


def test_settings_of_the_real_table(installed_headrace: Headrace) -> None:
    current: dict[str, Any] = dict(headrace.settings.current())
    assert current["log_level"] == "warning"
    assert headrace.settings.null_seat == "both"
    assert "HEADRACE_NULL_SEAT" in installed_headrace("settings").stdout


def test_the_documentation_of_settings_is_current(
    installed_headrace: Headrace, tmp_path: Path
) -> None:
    assert installed_headrace("settings", "--markdown", str(tmp_path)).returncode == 0
    written = {file.name: file.read_text() for file in tmp_path.iterdir()}
    kept = {file.name: file.read_text() for file in (_CHECKOUT / "docs/settings").iterdir()}
    assert written == kept, "run: headrace settings --markdown docs/settings"


def test_values_are_accepted_by_the_plug_ins_as_they_are_here(
    installed_headrace: Headrace, tmp_path: Path
) -> None:
    # What the launcher lets pass must not fail in the program: the report path has every odd byte.
    report = tmp_path / "a b;{}='\"%é"
    code = f"import headrace; headrace.enable('null', report={str(report)!r}, log_level='debug')\n"
    subprocess.run(
        [sys.executable, "-c", code + _H5PY, str(tmp_path / "file")],
        env=clean_environment(),
        check=True,
        capture_output=True,
    )
    assert _seats(report, "file") == {_VOL, _VFD}


@pytest.mark.parametrize(
    ("stack", "program", "warns"),
    [
        ("log", "mpiexec.openmpi", True),
        ("log(canonicalise=later)", "srun", True),
        ("log(mpi_logs=rank)", "mpirun", False),
        ("log", "simulation", False),
        ("async", "mpirun", False),
    ],
)
def test_what_is_not_logged_over_mpi_is_told(
    installed_headrace: Headrace, tmp_path: Path, stack: str, program: str, warns: bool
) -> None:
    started = tmp_path / program
    started.write_text("#!/bin/sh\n")
    started.chmod(0o755)
    done = installed_headrace("run", "--stack", stack, "--", str(started))
    assert done.returncode == 0, done.stderr
    assert ("mpi_logs" in done.stderr) == warns, done.stderr
