"""Which program runs in the end, and whether its HDF5 can load plug-ins."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from support import Compiler, Headrace, clean_environment

from headrace.doctor.programs import obstacle, obstacle_in_python, target


def _script(file: Path, first: str) -> Path:
    file.write_text(f"{first}\n")
    file.chmod(0o755)
    return file


def test_launchers_wrappers_and_scripts_lead_to_what_runs(tmp_path: Path) -> None:
    python = Path(sys.executable)
    environ = {"PATH": f"{python.parent}:{os.environ['PATH']}"}
    by_env = _script(tmp_path / "by_env", f"#!/usr/bin/env -S {python.name} -u")
    by_path = _script(tmp_path / "by_path", f"#! {python}")
    plain = _script(tmp_path / "plain", "exit 0")
    commands = [
        [python.name, "x.py"],
        ["/usr/bin/env", "A=b", "-u", "C", str(python), "-c", "1"],
        ["env", "nice", "-n", "5", "timeout", "3", str(by_path), "sh"],
        ["env", str(by_env)],
    ]
    for command in commands:
        found = target(command, environ)
        assert found is not None
        assert found.samefile(python), command
    assert target([str(plain)], environ) == plain
    assert target(["no-such-program"], environ) is None
    assert target(["env"], environ) is None
    loop = _script(tmp_path / "loop", f"#!{tmp_path / 'loop'}")
    assert target([str(loop)], environ) is None


def test_mpi_launchers_lead_to_what_they_start(tmp_path: Path) -> None:
    mpirun = _script(tmp_path / "mpirun", "#!/bin/sh")
    program = _script(tmp_path / "program", "exit 0")
    command = [str(mpirun), "-n", "2", "--mca", "btl", "self", "-H", "a:2", str(program), "sh"]
    assert target(command, os.environ) == program


@pytest.mark.parametrize(
    ("version", "flags", "text"),
    [
        ("1.14.5", [], "has HDF5 1.14.5 linked into it statically and hides"),
        ("1.14.5", ["-s"], "has HDF5 1.14.5 linked into it statically and hides"),
        ("1.14.5", ["-static"], "has HDF5 1.14.5 linked into it statically and hides"),
        ("1.12.2", ["-rdynamic"], "is HDF5 1.12.2, and Headrace needs 1.14 or newer"),
        ("1.14.5", ["-rdynamic"], None),
    ],
)
def test_hdf5_in_a_program(
    compiler: Compiler, tmp_path: Path, version: str, flags: list[str], text: str | None
) -> None:
    program = compiler.hdf5(tmp_path / "program", version, "uses_hdf5.c", *flags)
    found = obstacle([str(program)], os.environ)
    assert (found is None) == (text is None)
    assert text is None or (found or "").startswith(f"{program} {text}")


@pytest.mark.parametrize("version", ["1.10.8", "1.14.5"])
def test_a_library_that_is_too_old_is_told_before_the_program_starts(
    fake_headrace: Headrace, compiler: Compiler, tmp_path: Path, version: str
) -> None:
    library = compiler.hdf5(tmp_path / "libhdf5_serial.so", version)
    link = [str(library), f"-Wl,-rpath,{tmp_path}"]
    program = [str(compiler(tmp_path / "program", "uses_hdf5.c", *link)), "return"]
    show = f'{" ".join(program)}; echo "$?$HDF5_VOL_CONNECTOR"'
    for command in (program, ["env", "A=b", *program]):
        done = fake_headrace("run", "--", *command)
        assert (done.returncode, done.stdout) == (3, "")
        old = f"headrace: note: {library} is HDF5 1.10.8, and Headrace needs 1.14 or newer: "
        assert done.stderr.startswith(old) == (version == "1.10.8")
        assert done.stderr.count("\n") == (version == "1.10.8")
        assert not fake_headrace("run", "-q", "--", *command).stderr
    done = fake_headrace("run", "--", "sh", "-c", show)
    assert done.stdout.startswith("3headrace_async")
    assert not done.stderr


def test_a_program_that_can_load_no_plug_ins_is_told_of_none(
    fake_headrace: Headrace, compiler: Compiler, tmp_path: Path
) -> None:
    program = compiler.hdf5(tmp_path / "program", "1.14.5", "tells_layers.c")
    environ = {"HDF5_VOL_CONNECTOR": "headrace_trace under_vol=0;under_info={}"}
    assert fake_headrace("run", "--", str(program), env=environ).stdout == "native\n"


@pytest.mark.parametrize("version", ["1.10.8", "1.14.5"])
def test_the_library_of_a_python(
    fake_headrace: Headrace, fake_site: Path, compiler: Compiler, tmp_path: Path, version: str
) -> None:
    package = tmp_path / "modules/h5py"
    library = compiler.hdf5(package.parent / "libhdf5-1.so", version)
    compiler(package / "a.so", "nothing.c")
    link = [str(library), f"-Wl,-rpath,{library.parent}"]
    compiler(package / "b.so", "user_library.c", *link)
    (package / "__init__.py").write_text("raise AssertionError('it is not imported')\n")
    python = getattr(sys, "_base_executable", sys.executable)  # which has none of its own
    environ = {"PYTHONPATH": str(package.parent)}
    told = obstacle_in_python([python], os.environ | environ) or ""
    assert told.startswith(f"{library} is HDF5 1.10.8") == (version == "1.10.8")
    assert ("pip install --upgrade h5py" in told) == (version == "1.10.8")
    # enable() comes before the import, and says so, too.
    enabling = subprocess.run(
        [python, "-c", "import headrace; headrace.enable('null'); headrace.enable('null')"],
        env=clean_environment() | {"PYTHONPATH": f"{package.parent}:{fake_site}"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert enabling.stderr.count(f"UserWarning: {library} is HDF5 1.10.8, and Headrace needs") == (
        1 if version == "1.10.8" else 0
    )
    done = fake_headrace("run", "--", "env", f"PYTHONPATH={package.parent}", python, "-c", "")
    assert done.returncode == 0
