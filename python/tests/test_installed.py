"""The real plug-ins under the real h5py and netCDF4. Fails, not skips, where they are not built."""

import json
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import Any

import pytest
from support import PROGRAMS, Headrace, clean_environment

import headrace

_CHECKOUT = Path(__file__).parents[2]

_H5PY = str(PROGRAMS / "h5py_numbers.py")
_NETCDF4 = str(PROGRAMS / "netcdf4_numbers.py")

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
    arguments = [sys.executable, program, str(tmp_path / "file")]
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
        [sys.executable, _H5PY, str(tmp_path / "file")],
        env=clean_environment() | {"HEADRACE_REPORT": str(report)},
        check=True,
    )
    assert not report.exists()


def test_enable_serves_both_wheels_in_one_process(
    installed_headrace: Headrace, tmp_path: Path
) -> None:
    report = tmp_path / "report"
    program = str(PROGRAMS / "enables_for_two.py")
    done = subprocess.run(
        [sys.executable, program, str(report), str(tmp_path / "file")],
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
    command = [*program, sys.executable, _H5PY, str(tmp_path / "file")]
    done = installed_headrace("doctor", "--", *command)
    assert done.returncode == 1
    assert "did not load headrace_async (VOL)" in done.stdout
    assert text in done.stdout


def test_the_doctor_sees_a_connector_of_the_programs_own(
    installed_headrace: Headrace, tmp_path: Path
) -> None:
    program = str(PROGRAMS / "asks_for_native.py")
    done = installed_headrace("doctor", "--", sys.executable, program, str(tmp_path / "file"))
    assert done.returncode == 1, done.stderr
    assert "the plug-ins were loaded, but no file went through them" in done.stdout


def test_the_old_hdf5_of_the_system_is_called_too_old(
    installed_headrace: Headrace, tmp_path: Path
) -> None:
    file = tmp_path / "file"
    subprocess.run([sys.executable, _H5PY, str(file)], env=clean_environment(), check=True)
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
    program = str(PROGRAMS / "enables_for_another.py")
    subprocess.run(
        [sys.executable, program, str(report), _H5PY, str(tmp_path / "file")],
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
