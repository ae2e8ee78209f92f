"""At the end `headrace run` says in one line when files, or what was written, went past a layer."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from harness.run import Result
from harness.stack import CLEAN
from launched import HDF5, HEADRACE, Launcher, Programs

_PRELUDE = "import h5py, numpy as np\nf = h5py.File('x.h5', 'w')\n"
_SCATTERED = "d = f.create_dataset('s', (1000, 100), 'f4'); d[:, 3] = np.arange(1000)\n"
_ROWS = "f.create_dataset('r', data=np.ones(1 << 16))\n"
_READS = "h5py.File('x.h5', 'r')['s'][:].sum()"


def _note(done: Result) -> str:
    """What was said; nothing, or one line."""
    assert done.status == 0, done.text
    text = done.err.decode()
    assert not text or (text.startswith("headrace: note: ") and text.count("\n") == 1), text
    return text


def _python(launch: Launcher, stack: str, text: str, **environ: str) -> Result:
    return launch.run(stack, sys.executable, "-c", textwrap.dedent(text), **environ)


@pytest.mark.parametrize(
    ("stack", "text"),
    [
        ("async", "print(1)"),
        ("async", "import h5py, netCDF4"),
        ("async", _PRELUDE + _ROWS),
        ("async", _PRELUDE + "f.create_dataset('z', data=np.ones(1 << 16), compression='gzip')"),
        ("log", _PRELUDE + _SCATTERED),
        ("log", _PRELUDE + _SCATTERED + _ROWS),
        ("log", _PRELUDE + "f.attrs['a'] = 1"),
        ("log,async", _PRELUDE + _SCATTERED + "f.close(); " + _READS),
        ("null(seat=vfd)", _PRELUDE + _ROWS),
    ],
)
def test_nothing_is_said_when_all_is_well(launch: Launcher, stack: str, text: str) -> None:
    assert not _note(_python(launch, stack, text))


@pytest.mark.parametrize(
    ("stack", "text", "parts"),
    [
        ("log", _PRELUDE + _ROWS, ["none of 1 writes", "long rows and whole blocks"]),
        (
            "log",
            _PRELUDE + "f['v'] = ['text']; f['w'] = ['text']\n" + _ROWS,
            ["none of 3 writes", "variable-length"],
        ),
        (
            "log",
            _PRELUDE + "f['g/a'] = 1; del f['g']\n" + _SCATTERED + _SCATTERED.replace("'s'", "'t'"),
            ["none of 3 writes", "deleted links"],
        ),
        (
            "async",
            _PRELUDE.replace("'w'", "'w', driver='core'") + _ROWS,
            ["wrote nothing behind", "another driver than sec2 and mpio"],
        ),
        (
            "async",
            "import h5py\n"
            "g = h5py.File('y.h5', 'w', libver='latest')\n"
            "g.create_dataset('b', (1 << 16,), 'f4')\n"
            "g.swmr_mode = True; g['b'][:] = 3",
            ["wrote only", "SWMR"],
        ),
        (
            "async",
            _PRELUDE + "d = f.create_dataset('z', (1 << 16,), 'f4', compression='gzip')\n"
            "d[np.arange(0, 1 << 16, 2)] = 1",
            ["compressed nothing", "whole datasets and single blocks"],
        ),
    ],
)
def test_what_was_left_to_hdf5_is_said(
    launch: Launcher, stack: str, text: str, parts: list[str]
) -> None:
    note = _note(_python(launch, stack, text))
    for part in parts:
        assert part in note
    assert not _note(_python(launch, stack, text, HEADRACE_QUIET="true"))


def test_reasons_are_statistics_of_the_log_layer(launch: Launcher) -> None:
    words = [sys.executable, "-c", _PRELUDE + _ROWS + "f['v'] = ['text']; f['w'] = ['text']"]
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
    inner: list[str | Path] = [
        HEADRACE,
        "run",
        "--stack",
        "log",
        "--",
        sys.executable,
        "-c",
        _PRELUDE + _ROWS,
    ]
    assert "none of 1 writes" in _note(launch.run("log", *inner))


def test_a_killed_launcher_takes_the_program_along() -> None:
    code = "import os, time; print(os.getpid(), flush=True); time.sleep(100)"
    command: list[str | Path] = [HEADRACE, "run", "--", sys.executable, "-c", code]
    with subprocess.Popen(command, env=CLEAN, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        program = int(process.stdout.readline())
        assert program != process.pid
        process.kill()
        assert process.stdout.read() == b""  # when the program has ended, too


def test_the_launcher_keeps_no_file_of_the_program_open() -> None:
    """Who reads from the program sees when it closes its output."""
    code = "import os, sys; os.write(1, b'x'); os.close(1); sys.stdin.read()"
    command: list[str | Path] = [HEADRACE, "run", "--", sys.executable, "-c", code]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, env=CLEAN, stdin=pipe, stdout=pipe) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stdout.read() == b"x"
        process.stdin.close()
    assert process.returncode == 0
