"""Logs that nobody needs: of files that are made anew, and of programs that were killed."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from harness.run import run
from harness.stack import CLEAN
from log.commands import HEADRACE, assert_right, headrace, logs, write

if TYPE_CHECKING:
    from pathlib import Path

    from log_layer import Log

LATER = "canonicalise=later;"
WRITE = """
    f = h5py.File("x.h5", "w")
    f.create_dataset("d", (100, 100), "i4")[:, ::2] = {value}
    f.close()
"""
RIGHT = "assert (h5py.File('x.h5')['d'][:, ::2] == {value}).all()"


def written(layer: Log, value: int, options: str = LATER) -> set[Path]:
    layer.python(WRITE.format(value=value), options)
    return set(logs(layer.folder))


@pytest.mark.parametrize("options", [LATER, "", "canonicalise=later;mpi_logs=rank;"])
def test_a_file_that_is_made_anew(layer: Log, options: str) -> None:
    (first,) = written(layer, 1)
    rest = written(layer, 2, options)
    assert first not in rest
    assert len(rest) == (1 if options else 0)
    layer.python("h5py.File('x.h5', 'r+').close()")
    layer.plain(RIGHT.format(value=2))
    assert not (layer.folder / "x.h5.headrace").exists()


def test_a_file_that_was_moved_keeps_its_log(layer: Log) -> None:
    (first,) = written(layer, 1)
    moved = layer.folder / "y.h5"
    (layer.folder / "x.h5").rename(moved)
    rest = written(layer, 2)
    assert first in rest
    assert len(rest) == 2
    (layer.folder / "y.h5.headrace").mkdir()
    first.rename(layer.folder / "y.h5.headrace" / first.name)
    layer.python("h5py.File('y.h5', 'r+').close()")
    layer.plain("assert (h5py.File('y.h5')['d'][:, ::2] == 1).all()")


@pytest.mark.parametrize(
    "action",
    [
        "h5py.File('x.h5', 'w', driver='core', backing_store=False)",
        "h5py.File('x.h5', 'x')",
        "h5py.File('x.h5', 'a')",
    ],
)
def test_a_file_that_stays_keeps_its_log(layer: Log, action: str) -> None:
    """One in memory has the same name."""
    (first,) = written(layer, 1)
    kept = first.read_bytes()
    layer.start(f"{action}; assert {str(first)!r} and os._exit(0)")
    if "'a'" not in action:
        assert first.read_bytes() == kept
    layer.python("h5py.File('x.h5', 'r+').close()", "recover=true;")
    layer.plain(RIGHT.format(value=1))


def foreign(folder: Path) -> Path:
    """A log whose file was moved away from beside it."""
    write(folder, "f.close()")
    log: Path
    (log,) = logs(folder)
    (folder / "x.h5").rename(folder / "y.h5")
    return log


def test_cleaning_leaves_what_may_be_of_use(tmp_path: Path) -> None:
    """Nobody can be asked here."""
    first = foreign(tmp_path)
    for also in ("x.h5 is not there", "x.h5 has a log of its own"):
        done = headrace(tmp_path, "log", "clean", "x.h5")
        assert done.status == 1, also
        text = " ".join(done.text.split())
        assert f"{first} holds" in text, text
        assert "was not deleted" in text, text
        assert first.exists()
        program = [sys.executable, "-c", WRITE_AGAIN]
        stack = ["--stack", "log(canonicalise=later)", "--"]
        subprocess.run([HEADRACE, "run", *stack, *program], env=CLEAN, cwd=tmp_path, check=True)
        assert len(logs(tmp_path)) == 2
    done = headrace(tmp_path, "log", "clean", "x.h5", "--yes")
    assert done.text.splitlines() == [f"deleted {first}", "x.h5 has no log but its own"]
    assert len(logs(tmp_path)) == 1
    assert headrace(tmp_path, "replay", "x.h5").status == 0
    done = headrace(tmp_path, "log", "clean", "x.h5")
    assert (done.status, done.text) == (0, "x.h5 has no log but its own\n")


WRITE_AGAIN = """
import h5py
with h5py.File("x.h5", "w") as f:
    f.create_dataset("d", (100, 100), "i4")[:, ::2] = 7
"""


def test_cleaning_asks(tmp_path: Path) -> None:
    log = foreign(tmp_path)
    command = f"{HEADRACE} log clean x.h5"
    for answer, left in (("n", True), ("y", False)):
        done = run(
            ["sh", "-c", f"echo {answer} | script -qec '{command}' /dev/null"],
            env=CLEAN, cwd=tmp_path, limit=60,
        )  # fmt: skip
        assert "If its file was moved or copied" in " ".join(done.text.split()), done.text
        assert log.exists() == left


def test_cleaning_a_file_in_use(tmp_path: Path) -> None:
    """The log of a program that is at work is not in its file yet."""
    program = [sys.executable, "-c", IN_USE]
    stack = ["--stack", "log(canonicalise=later)", "--"]
    with subprocess.Popen(
        [HEADRACE, "run", *stack, *program],
        env=CLEAN, cwd=tmp_path, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
    ) as running:  # fmt: skip
        assert running.stdout is not None
        assert running.stdout.readline()
        done = headrace(tmp_path, "log", "clean", "x.h5", "--yes")
        assert done.status == 2
        assert "a program has it open" in done.text
        assert len(logs(tmp_path)) == 1
        running.communicate(b"\n", timeout=60)
    assert headrace(tmp_path, "replay", "x.h5").status == 0


IN_USE = """
import h5py
f = h5py.File("x.h5", "w")
f.create_dataset("d", (100, 100), "i4")[:, ::2] = 7
print("written", flush=True)
input()
f.close()
"""


@pytest.mark.parametrize("end", ["os._exit(0)", "f.flush(); os._exit(0)"])
def test_after_a_kill(tmp_path: Path, end: str) -> None:
    """What may be the log of a program that is at work is not deleted unasked, nor a file's own."""
    write(tmp_path, end)
    done = headrace(tmp_path, "log", "clean", "x.h5", "--yes")
    assert done.status == 0, done.text
    assert len(logs(tmp_path)) == 1
    done = headrace(tmp_path, "recover", "x.h5")
    assert done.status == 0, done.text
    assert_right(tmp_path, "")


@pytest.mark.parametrize("size", [0, None])
def test_what_a_kill_before_the_first_flush_leaves(tmp_path: Path, size: int | None) -> None:
    """HDF5 may have written how long the file is to be."""
    program = [sys.executable, "-c", IN_USE.replace("input()", "import os; os._exit(0)")]
    stack = ["--stack", "log(canonicalise=later)", "--"]
    subprocess.run([HEADRACE, "run", *stack, *program], env=CLEAN, cwd=tmp_path, check=True)
    if size is not None:
        os.truncate(tmp_path / "x.h5", size)
    for command in ("recover", "replay"):
        done = headrace(tmp_path, command, "x.h5")
        assert done.status == 2
        told = "nothing was flushed before the crash of the program that wrote it, so nothing can"
        assert told in " ".join(done.text.split()), done.text
    done = headrace(tmp_path, "log", "clean", "x.h5")
    assert done.status == 1
    assert "was not closed" in done.text
    done = headrace(tmp_path, "log", "clean", "x.h5", "--yes")
    assert done.status == 0, done.text
    assert not (tmp_path / "x.h5.headrace").exists()


def test_cleaning_what_is_not_there(tmp_path: Path) -> None:
    done = headrace(tmp_path, "log", "clean", "x.h5")
    assert done.status == 2
    assert "x.h5: there is no such file, and no log of it" in done.text
