"""At the end `headrace run` says in one line when files, or what was written, went past a layer."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import h5py
import numpy as np
import pytest
from harness.program import Program, text_of
from harness.run import Result
from harness.stack import CLEAN
from launched import HDF5, HEADRACE, Launcher, Programs


def _note(done: Result) -> str:
    """What was said; nothing, or one line."""
    assert done.status == 0, done.text
    text = done.err.decode()
    assert not text or (text.startswith("headrace: note: ") and text.count("\n") == 1), text
    return text


def _python(launch: Launcher, stack: str, program: Program, **environ: str) -> Result:
    return launch.run(stack, sys.executable, "-c", text_of(program), **environ)


def write_rows(driver: str | None = None, texts: bool = False) -> None:
    f = h5py.File("x.h5", "w", driver=driver)
    if texts:
        for name in ("v", "w"):
            d = f.create_dataset(name, (1000, 2), h5py.string_dtype())
            d[:, 0] = np.array(["text"] * 1000, object)
    f.create_dataset("r", data=np.ones(1 << 16))


def write_compressed() -> None:
    f = h5py.File("x.h5", "w")
    f.create_dataset("z", data=np.ones(1 << 16), compression="gzip")


def write_shorter_strings_compressed() -> None:
    f = h5py.File("x.h5", "w")
    d = f.create_dataset("z", (1 << 16,), "S9", compression="gzip")
    d[...] = np.full(1 << 16, b"short", "S5")


def write_a_column(rows: bool = False, read: bool = False) -> None:
    f = h5py.File("x.h5", "w")
    d = f.create_dataset("s", (1000, 100), "f4")
    d[:, 3] = np.arange(1000)
    if rows:
        f.create_dataset("r", data=np.ones(1 << 16))
    if read:
        f.close()
        h5py.File("x.h5", "r")["s"][:].sum()


def write_columns_and_delete_a_link() -> None:
    f = h5py.File("x.h5", "w")
    f["g/a"] = 1
    del f["g"]
    for name in ("s", "t"):
        d = f.create_dataset(name, (1000, 100), "f4")
        d[:, 3] = np.arange(1000)


def write_an_attribute() -> None:
    f = h5py.File("x.h5", "w")
    f.attrs["a"] = 1


def write_for_readers_meanwhile() -> None:
    f = h5py.File("y.h5", "w", libver="latest")
    f.create_dataset("b", (1 << 16,), "f4")
    f.swmr_mode = True
    f["b"][:] = 3


@pytest.mark.parametrize(
    ("stack", "program"),
    [
        ("async", "print(1)"),
        ("async", "import h5py, netCDF4"),
        ("async", write_rows),
        ("async", write_compressed),
        ("log", write_a_column),
        ("log", partial(write_a_column, rows=True)),
        ("log", write_an_attribute),
        ("log,async", partial(write_a_column, read=True)),
        ("null(seat=vfd)", write_rows),
    ],
)
def test_nothing_is_said_when_all_is_well(launch: Launcher, stack: str, program: Program) -> None:
    assert not _note(_python(launch, stack, program))


@pytest.mark.parametrize(
    ("stack", "program", "parts"),
    [
        ("log", write_rows, ["none of 1 writes", "long rows, whole blocks and dense rows"]),
        ("log", partial(write_rows, texts=True), ["none of 3 writes", "variable-length"]),
        (
            "log(canonicalise=later)",
            write_columns_and_delete_a_link,
            ["none of 3 writes", "deleted links"],
        ),
        (
            "async",
            partial(write_rows, driver="core"),
            ["wrote nothing behind", "another driver than sec2 and mpio"],
        ),
        ("async", write_for_readers_meanwhile, ["wrote only", "SWMR"]),
        (
            "async",
            write_shorter_strings_compressed,
            ["compressed nothing", "only numbers are converted"],
        ),
    ],
)
def test_what_was_left_to_hdf5_is_said(
    launch: Launcher, stack: str, program: Program, parts: list[str]
) -> None:
    note = _note(_python(launch, stack, program))
    for part in parts:
        assert part in note
    assert not _note(_python(launch, stack, program, HEADRACE_QUIET="true"))


def test_reasons_are_statistics_of_the_log_layer(launch: Launcher) -> None:
    words = [sys.executable, "-c", text_of(partial(write_rows, texts=True))]
    done = launch(HEADRACE, "run", "--stats", "--quiet", "--stack", "log", "--", *words)
    lines = [" ".join(line.split()) for line in done.err.decode().splitlines()]
    assert "calls left to hdf5 3" in lines
    assert "left for rows 1" in lines
    assert "left for dataset 2" in lines


@pytest.mark.parametrize("stack", ["null", "async", "log"])
def test_a_connector_of_the_programs_own(launch: Launcher, programs: Programs, stack: str) -> None:
    done = launch.run(stack, programs.shared(), "x.h5", "native")
    assert done.out == b"written\n"
    assert "none of the program's files" in _note(done)
    assert "H5Pset_vol" in _note(done)


@pytest.mark.parametrize("layer", ["log", "async"])
def test_ranks_say_it_once(launch: Launcher, programs: Programs, layer: str) -> None:
    option = {"log": "mpi_logs", "async": "mpi_staging"}[layer]
    program: list[str | Path] = [programs.shared(), "x.h5", "ranks"]
    start = [*HDF5.mpiexec, "-n", "2"]
    each = launch(*start, HEADRACE, "run", "--stack", layer, "--", *program)
    assert option in _note(each)
    together = launch.run(layer, *start, *program)
    assert together.status == 0
    assert together.err.decode().count("\n") == 1  # of log it is said before the program starts
    assert option in together.err.decode()
    value = {"log": "rank", "async": "true"}[layer]
    well = launch(*start, HEADRACE, "run", "--stack", f"{layer}({option}={value})", "--", *program)
    assert not _note(well)


def test_a_run_within_a_run_leaves_it_to_the_outer_one(launch: Launcher) -> None:
    program = [sys.executable, "-c", text_of(write_rows)]
    inner: list[str | Path] = [HEADRACE, "run", "--stack", "log", "--", *program]
    assert "none of 1 writes" in _note(launch.run("log", *inner))


def tell_who_it_is_and_sleep() -> None:
    print(os.getpid(), flush=True)
    time.sleep(100)


def test_a_killed_launcher_takes_the_program_along() -> None:
    program = [sys.executable, "-c", text_of(tell_who_it_is_and_sleep)]
    command: list[str | Path] = [HEADRACE, "run", "--", *program]
    with subprocess.Popen(command, env=CLEAN, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        child = int(process.stdout.readline())
        assert child != process.pid
        process.kill()
        assert process.stdout.read() == b""  # when the program has ended, too


def close_the_output_and_read() -> None:
    os.write(1, b"x")
    os.close(1)
    sys.stdin.read()


def test_the_launcher_keeps_no_file_of_the_program_open() -> None:
    """Who reads from the program sees when it closes its output."""
    program = [sys.executable, "-c", text_of(close_the_output_and_read)]
    command: list[str | Path] = [HEADRACE, "run", "--", *program]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, env=CLEAN, stdin=pipe, stdout=pipe) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stdout.read() == b"x"
        process.stdin.close()
    assert process.returncode == 0
