"""Logs that nobody needs: of files that are made anew, and of programs that were killed."""

from __future__ import annotations

import os
import subprocess
from functools import partial
from typing import TYPE_CHECKING, Any

import h5py
import pytest
from harness.run import run
from harness.stack import CLEAN
from layers.log.later.commands import (
    HEADRACE,
    assert_right,
    headrace,
    logged,
    logs,
    run_logged,
    write,
    write_and_die,
    write_flush_and_die,
)

if TYPE_CHECKING:
    from pathlib import Path

    from harness.layer import Layer
    from harness.program import Program

LATER = "canonicalise=later;"


def write_value(value: int) -> None:
    f = h5py.File("x.h5", "w")
    f.create_dataset("d", (100, 100), "i4")[:, ::2] = value
    f.close()


def check_value(value: int, name: str = "x.h5") -> None:
    assert (h5py.File(name)["d"][:, ::2] == value).all()


def written(layer: Layer, value: int, options: str = LATER) -> set[Path]:
    layer.python(partial(write_value, value), options)
    return set(logs(layer.folder))


@pytest.mark.parametrize("options", [LATER, "", "canonicalise=later;mpi_logs=rank;"])
def test_a_file_that_is_made_anew(layer: Layer, options: str) -> None:
    (first,) = written(layer, 1)
    rest = written(layer, 2, options)
    assert first not in rest
    assert len(rest) == (1 if options else 0)
    layer.python("h5py.File('x.h5', 'r+').close()")
    layer.plain(partial(check_value, 2))
    assert not (layer.folder / "x.h5.headrace").exists()


def test_a_file_that_was_moved_keeps_its_log(layer: Layer) -> None:
    (first,) = written(layer, 1)
    moved = layer.folder / "y.h5"
    (layer.folder / "x.h5").rename(moved)
    rest = written(layer, 2)
    assert first in rest
    assert len(rest) == 2
    (layer.folder / "y.h5.headrace").mkdir()
    first.rename(layer.folder / "y.h5.headrace" / first.name)
    layer.python("h5py.File('y.h5', 'r+').close()")
    layer.plain(partial(check_value, 1, "y.h5"))


def open_and_die(mode: str, more: dict[str, Any]) -> None:
    h5py.File("x.h5", mode, **more)
    os._exit(0)


@pytest.mark.parametrize(
    ("mode", "more"), [("w", {"driver": "core", "backing_store": False}), ("x", {}), ("a", {})]
)
def test_a_file_that_stays_keeps_its_log(layer: Layer, mode: str, more: dict[str, Any]) -> None:
    """One in memory has the same name."""
    (first,) = written(layer, 1)
    kept = first.read_bytes()
    layer.start(partial(open_and_die, mode, more))
    if mode != "a":
        assert first.read_bytes() == kept
    layer.python("h5py.File('x.h5', 'r+').close()", "recover=true;")
    layer.plain(partial(check_value, 1))


def foreign(folder: Path) -> Path:
    """A log whose file was moved away from beside it."""
    write(folder)
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
        run_logged(tmp_path, partial(write_value, 7))
        assert len(logs(tmp_path)) == 2
    done = headrace(tmp_path, "log", "clean", "x.h5", "--yes")
    assert done.text.splitlines() == [f"deleted {first}", "x.h5 has no log but its own"]
    assert len(logs(tmp_path)) == 1
    assert headrace(tmp_path, "replay", "x.h5").status == 0
    done = headrace(tmp_path, "log", "clean", "x.h5")
    assert (done.status, done.text) == (0, "x.h5 has no log but its own\n")


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


def write_and_wait() -> None:
    f = h5py.File("x.h5", "w")
    f.create_dataset("d", (100, 100), "i4")[:, ::2] = 7
    print("written", flush=True)
    input()
    f.close()


def test_cleaning_a_file_in_use(tmp_path: Path) -> None:
    """The log of a program that is at work is not in its file yet."""
    with subprocess.Popen(
        logged(write_and_wait),
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


@pytest.mark.parametrize("program", [write_and_die, write_flush_and_die])
def test_after_a_kill(tmp_path: Path, program: Program) -> None:
    """What may be the log of a program that is at work is not deleted unasked, nor a file's own."""
    write(tmp_path, program)
    done = headrace(tmp_path, "log", "clean", "x.h5", "--yes")
    assert done.status == 0, done.text
    assert len(logs(tmp_path)) == 1
    done = headrace(tmp_path, "recover", "x.h5")
    assert done.status == 0, done.text
    assert_right(tmp_path, odd=None)


def die_before_the_first_flush() -> None:
    f = h5py.File("x.h5", "w")
    f.create_dataset("d", (100, 100), "i4")[:, ::2] = 7
    os._exit(0)


@pytest.mark.parametrize("size", [0, None])
def test_what_a_kill_before_the_first_flush_leaves(tmp_path: Path, size: int | None) -> None:
    """HDF5 may have written how long the file is to be."""
    run_logged(tmp_path, die_before_the_first_flush)
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
