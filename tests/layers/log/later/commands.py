"""The commands of the log, as they are installed, and files for them."""

from __future__ import annotations

import os
import subprocess
import sys
from functools import partial
from pathlib import Path

import h5py
from harness.program import Program, text_of
from harness.run import Result, run
from harness.stack import CLEAN

HEADRACE = Path(sys.executable).with_name("headrace")


def begin(libver: str = "earliest") -> tuple[h5py.File, h5py.Dataset]:
    """A file with writes that were flushed, and others that were not."""
    f = h5py.File("x.h5", "w", libver=libver)
    d = f.create_dataset("d", (100, 1000), "i4", chunks=(10, 100), compression=1)
    for k in range(0, 1000, 10):
        d[:, k] = k
    f.flush()
    d[:, 1::2] = 1
    return f, d


def write_and_close() -> None:
    f, _d = begin()
    f.close()


def write_and_die(libver: str = "earliest") -> None:
    _open = begin(libver)
    os._exit(0)


def write_flush_and_die() -> None:
    f, _d = begin()
    f.flush()
    os._exit(0)


def check(odd: int | None) -> None:
    """What was flushed is there, and of the others the value given, if any."""
    d = h5py.File("x.h5")["d"][...]
    for k in range(0, 1000, 10):
        assert (d[:, k] == k).all()
    if odd is not None:
        assert (d[:, 1::2] == odd).all()


def headrace(folder: Path, *args: str) -> Result:
    return run([HEADRACE, *args], env=CLEAN, cwd=folder, limit=60)


def logged(program: Program) -> list[str | Path]:
    """The command that runs a program whose log outlives it."""
    stack = ["--stack", "log(canonicalise=later)", "--"]
    return [HEADRACE, "run", *stack, sys.executable, "-c", text_of(program)]


def plain(folder: Path, program: Program) -> Result:
    """Runs a program without any plug-in."""
    return run([sys.executable, "-c", text_of(program)], env=CLEAN, cwd=folder, limit=60)


def run_logged(folder: Path, program: Program) -> None:
    subprocess.run(logged(program), env=CLEAN, cwd=folder, check=True)


def write(folder: Path, program: Program = write_and_close) -> None:
    run_logged(folder, program)
    assert len(logs(folder)) == 1


def logs(folder: Path) -> list[Path]:
    return list(folder.glob("x.h5.headrace/*.log"))


def assert_right(folder: Path, odd: int | None = 1) -> None:
    done = plain(folder, partial(check, odd))
    assert done.status == 0, done.text
