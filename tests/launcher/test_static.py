"""Programs whose HDF5 can load no plug-ins: they run natively, and `run` says why in one line."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import h5py
import pytest
from harness.program import text_of
from harness.run import Result
from launched import HDF5, HEADRACE, HERE, Launcher, Programs, call

from headrace import plugin_path


def _one_note(done: Result, *parts: str) -> None:
    lines = done.err.decode().splitlines()
    assert len(lines) == 1, done.text
    assert lines[0].startswith("headrace: note: ")
    for part in parts:
        assert part in lines[0], lines[0]


def count_the_numbers() -> None:
    d = h5py.File("x.h5")["d"]
    assert (d[:] == range(len(d))).all()
    print(len(d))


def _read(launch: Launcher) -> int:
    """How many numbers there are, by a plain HDF5 without plug-ins."""
    done = launch(sys.executable, "-c", text_of(count_the_numbers))
    assert done.status == 0, done.text
    return int(done.out)


@pytest.mark.parametrize("flags", [[], ["-s"]], ids=["hidden", "stripped"])
def test_a_static_program_runs_natively(
    launch: Launcher, programs: Programs, flags: list[str]
) -> None:
    program = programs.static("static" + "".join(flags), *flags)
    done = launch.run("async", program, "x.h5")
    assert (done.status, done.out) == (0, b"written\n"), done.text
    _one_note(done, str(program), "HDF5 1.14.5 linked into it statically", "runs natively")
    assert _read(launch) == 100000


def test_so_does_one_that_an_mpi_launcher_starts(launch: Launcher, programs: Programs) -> None:
    program = programs.static("static")
    done = launch.run("log(mpi_logs=rank)", *HDF5.mpiexec, "-n", "2", program, "x.h5", "ranks")
    assert (done.status, done.out) == (0, b"written\n"), done.text
    _one_note(done, str(program), "linked into it statically")
    ranks = launch(*HDF5.mpiexec, "-n", "2", HEADRACE, "run", "--", program, "x.h5", "ranks")
    assert (ranks.status, ranks.out) == (0, b"written\n"), ranks.text
    _one_note(ranks, str(program), "linked into it statically")
    assert _read(launch) == 200000


def test_so_does_one_that_a_script_starts(launch: Launcher, programs: Programs) -> None:
    program = programs.static("static")
    done = launch.run("async", "sh", "-c", f"{program} x.h5; exit 7")
    assert (done.status, done.out) == (7, b"written\n"), done.text
    _one_note(done, str(program), "HDF5 1.14.5 linked into it statically", "runs natively")
    driver = launch.run("null(seat=vfd)", "sh", "-c", f"{program} x.h5; exit 7")
    assert (driver.status, driver.out) == (7, b"written\n"), driver.text
    _one_note(driver, "runs natively")
    assert _read(launch) == 100000


def test_one_that_exports_a_part_of_hdf5(launch: Launcher, programs: Programs) -> None:
    program = programs.static("rdynamic", "-rdynamic")
    done = launch.run("async", program, "x.h5")
    assert (done.status, done.out) == (0, b"written\n"), done.text
    _one_note(done, f"{program} does not export H5", "--whole-archive")
    assert _read(launch) == 100000
    doctor = launch(HEADRACE, "doctor", "--", program, "x.h5")
    assert doctor.status == 1
    assert f"{program} does not export H5" in doctor.text
    assert "H5PLset_loading_state" not in doctor.text


def test_one_that_exports_all_of_it_has_layers(launch: Launcher, programs: Programs) -> None:
    program = programs.static("whole", "-rdynamic")
    done = launch.run("async", program, "x.h5", HEADRACE_REPORT="report")
    assert (done.status, done.out, done.err) == (0, b"written\n", b"")
    report = (launch.folder / "report").read_text().splitlines()
    loads = [line for line in map(json.loads, report) if line["event"] == "load"]
    assert {(line["name"], line["hdf5"]) for line in loads} == {("headrace_async", str(program))}
    assert _read(launch) == 100000


@pytest.mark.parametrize("flags", [[], ["-rdynamic"]], ids=["hidden", "exported"])
def test_an_old_library_gets_its_own_connector(launch: Launcher, flags: list[str]) -> None:
    program = launch.folder / "old"
    call("cc", *flags, HERE / "old_library.c", "-o", program, "-ldl")
    plugin = plugin_path() / "libheadrace_async.so"
    summary = launch.folder / "summary"
    done = launch(program, plugin, "headrace_async", HEADRACE_SUMMARY=str(summary))
    assert (done.status, done.out) == (0, b"native functions\n"), done.text
    (line,) = map(json.loads, summary.read_text().splitlines())
    version = "1.12.2" if flags else ""
    assert (line["event"], line["hdf5"], line["version"]) == ("refused", str(program), version)


def test_what_an_old_library_was_is_said(launch: Launcher) -> None:
    program = launch.folder / "h5py.libs" / "libhdf5-1.so"
    program.parent.mkdir()
    call("cc", "-rdynamic", HERE / "old_library.c", "-o", program, "-ldl")
    plugin = plugin_path() / "libheadrace_async.so"
    script = f"{program} {plugin} headrace_async"
    done = launch.run("async", "sh", "-c", f"{script}; {script}")
    assert done.out == b"native functions\n" * 2
    _one_note(done, f"{program} is HDF5 1.12.2", "1.14 or newer", "pip install --upgrade h5py")
    assert launch(HEADRACE, "run", "-q", "--", "sh", "-c", script).err == b""


def test_a_library_is_not_taken_for_another_one(launch: Launcher) -> None:
    """A main program without HDF5's functions, beside a libhdf5 that everybody can see."""
    program = launch.folder / "old"
    call("cc", HERE / "old_library.c", "-o", program, "-ldl")
    plugin = plugin_path() / "libheadrace_async.so"
    library = str(HDF5.prefix / "lib/libhdf5.so")
    done = launch(program, plugin, "headrace_async", LD_PRELOAD=library)
    assert (done.status, done.out) == (0, b"native functions\n"), done.text


def test_the_c_library_may_be_static_too(launch: Launcher) -> None:
    program = launch.folder / "all"
    call("cc", "-static", HERE / "label.c", "-o", program)
    done = launch.run("async", program)
    assert (done.status, done.out) == (5, b"")
    _one_note(done, f"{program} has HDF5 1.14.5 linked into it statically")


def test_the_shared_library_beside(launch: Launcher, programs: Programs) -> None:
    done = launch.run("async", programs.shared(), "x.h5")
    assert (done.status, done.out, done.err) == (0, b"written\n", b"")
    assert Path(launch.folder, "x.h5").exists()
