"""`headrace doctor -- COMMAND` on made-up plug-ins and a made-up libhdf5."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from support import PROGRAMS, Compiler, Headrace, clean_environment, run_from


def test_a_program_without_our_plug_ins(
    fake_headrace: Headrace, program: Path, fake_hdf5: Path
) -> None:
    done = fake_headrace("doctor", "--", str(program))
    assert done.returncode == 1
    assert "HDF5 2.0.0, serial, thread-safe, loaded by program" in done.stdout
    assert f"{fake_hdf5} did not load headrace_async (VOL)" in done.stdout
    assert done.stderr == ""


def test_what_is_set_but_lost_on_the_way_is_named(fake_headrace: Headrace, program: Path) -> None:
    done = fake_headrace("doctor", "--", "env", "-u", "HDF5_VOL_CONNECTOR", str(program))
    assert "HDF5_VOL_CONNECTOR was unset in program (process" in done.stdout


def test_reports_of_plug_ins_are_used(
    fake_headrace: Headrace, program: Path, fake_hdf5: Path
) -> None:
    report = [
        {
            "event": "load",
            "seat": "vol",
            "name": "headrace_trace",
            "pid": 1,
            "hdf5": str(fake_hdf5),
            "version": "2.0.0",
        },
        {
            "event": "file",
            "seat": "vol",
            "name": "headrace_trace",
            "pid": 1,
            "call": "file_open",
            "file": "a [b].h5",
            "ok": True,
        },
    ]
    lines = "\n".join(json.dumps(line) for line in report)
    script = f"{program}; printf '%s\\n' '{lines}' >> $HEADRACE_REPORT"
    done = fake_headrace("doctor", "--stack", "trace", "--", "sh", "-c", script)
    assert done.returncode == 0, done.stdout
    assert "a [b].h5 went through headrace_trace (VOL)" in done.stdout
    assert "HDF5 2.0.0 loaded headrace_trace (VOL)" in done.stdout


def test_a_crash_is_explained_and_its_output_kept(
    fake_headrace: Headrace, program: Path, fake_hdf5: Path
) -> None:
    done = fake_headrace("doctor", "--", str(program), "abort-silently")
    assert done.returncode == 1
    assert "the program ended by SIGABRT" in done.stdout
    assert f"{fake_hdf5} did not load" in done.stdout
    assert "serial, thread-safe, loaded by program" in done.stdout


def test_a_static_program(fake_headrace: Headrace, compiler: Compiler, tmp_path: Path) -> None:
    file = compiler.hdf5(tmp_path / "static", "1.14.5", "uses_hdf5.c", "-static")
    done = fake_headrace("doctor", "--", str(file), "exit")
    assert done.returncode == 1
    assert "ended with status 4" in done.stdout
    assert f"{file} is linked statically" in done.stdout
    assert "HDF5 1.14.5 linked into it" in done.stdout


def test_hdf5_in_a_forked_child(fake_headrace: Headrace, fake_hdf5: Path) -> None:
    program = str(PROGRAMS / "initialises_in_a_fork.py")
    done = fake_headrace("doctor", "--", sys.executable, program, str(fake_hdf5))
    assert "HDF5 2.0.0, serial, thread-safe" in done.stdout
    assert "did not load headrace_async (VOL)" in done.stdout


def test_streams_are_the_programs(fake_headrace: Headrace) -> None:
    done = fake_headrace("doctor", "--", "sh", "-c", "cat; echo error >&2", input="input\n")
    assert done.stdout.startswith("input\n")
    assert done.stderr == "error\n"
    assert "no process of the program loaded a libhdf5" in done.stdout


def test_an_interrupt_ends_the_program_and_not_the_diagnosis(fake_site: Path) -> None:
    environ = clean_environment() | {"PYTHONPATH": str(fake_site), "COLUMNS": "200"}
    call = "from headrace.cli import app; app()"
    script = "echo ready; exec sleep 60"
    command = [sys.executable, "-P", "-c", call, "doctor", "--", "sh", "-c", script]
    with subprocess.Popen(
        command, env=environ, stdout=subprocess.PIPE, text=True, process_group=0
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        time.sleep(0.2)  # until sh has become sleep
        os.killpg(process.pid, signal.SIGINT)
        output = process.stdout.read()
    assert "the program ended by SIGINT" in output
    assert process.returncode == 1


@pytest.mark.parametrize(
    ("name", "status", "message"),
    [("no-such-command", 127, "command not found"), ("/tmp", 126, "is a directory")],
)
def test_what_cannot_be_started(
    fake_headrace: Headrace, name: str, status: int, message: str
) -> None:
    done = fake_headrace("doctor", "--", name)
    assert (done.returncode, done.stdout) == (status, "")
    assert message in done.stderr


def test_json(fake_headrace: Headrace, program: Path, fake_hdf5: Path) -> None:
    done = fake_headrace("doctor", "--json", "--", str(program))
    told: dict[str, Any] = json.loads(done.stdout)
    assert told["evidence"]["processes"][0]["copies"][0]["path"] == str(fake_hdf5)
    assert {finding["level"] for finding in told["findings"]} == {"problem"}


@pytest.mark.parametrize("command", [[], ["--", "touch", "never"]])
def test_missing_plug_ins_are_a_finding(own_site: Path, tmp_path: Path, command: list[str]) -> None:
    (own_site / "headrace/lib/plugins/libheadrace_async.so").unlink()
    done = run_from(own_site, "doctor", *command, cwd=tmp_path)
    assert done.returncode == 1
    assert "libheadrace_async.so is missing" in done.stdout
    assert not (tmp_path / "never").exists()
    if not command:
        assert "loaded by h5py" in done.stdout


def test_without_the_probe_it_says_so(own_site: Path, program: Path) -> None:
    (own_site / "headrace/lib/libheadrace_probe.so").unlink()
    done = run_from(own_site, "doctor", "--", str(program))
    assert "the probe library is not installed" in done.stdout


def test_modules_that_crash_are_explained(fake_headrace: Headrace) -> None:
    # The made-up plug-ins have no class to offer, on which HDF5 fails and h5py crashes.
    done = fake_headrace("doctor")
    assert done.returncode == 1
    for module in ("h5py", "netCDF4"):
        assert f"loaded by {module}" in done.stdout
        assert f"{module} under the stack async" in done.stdout
    assert "could not be written and read: HDF5 reports: " in done.stdout
