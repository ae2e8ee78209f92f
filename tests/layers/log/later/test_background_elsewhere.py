"""What goes on while a process puts logs in order: HELD until a test says so, or none at all."""

from __future__ import annotations

import os
import select
import time
from pathlib import Path

import h5py
import pytest
from layers.log.later.background import (
    BACKGROUND,
    HELD,
    Elsewhere,
    begin,
    check,
    check_ordinary,
    expected,
    wait,
    waits,
    write,
)


@pytest.fixture
def elsewhere(tmp_path: Path) -> Elsewhere:
    return Elsewhere(tmp_path, "log")


def go_on_meanwhile() -> None:
    right = expected()
    with h5py.File("y.h5", "w"):
        f, _d = begin(libver="latest")
        f.close()
    # Nobody else has the lock of what was open in the meantime.
    h5py.File("y.h5", "r+").close()
    assert not Path("y.h5.headrace").exists()
    with h5py.File("x.h5") as f:
        assert (f["d"][...] == right).all(), "read through the log"
    assert Path("x.h5.headrace").exists()
    try:
        os.waitpid(-1, os.WNOHANG)
    except ChildProcessError:
        Path("alone").touch()
    os.system("(sleep 1; touch go) &")  # noqa: S605, S607
    with h5py.File("x.h5", "r+") as f:
        assert Path("go").exists()
        assert (f["d"][...] == right).all()
        assert not f.attrs
    assert not Path("x.h5.headrace").exists()


def test_the_program_does_not_wait(elsewhere: Elsewhere) -> None:
    elsewhere.install(HELD)
    elsewhere.python(go_on_meanwhile, BACKGROUND)
    assert (elsewhere.folder / "alone").exists(), "a child is left to the program"
    assert elsewhere.log.count("waiting until log") == 1, elsewhere.log


def close_with_a_pipe_open() -> None:
    f = h5py.File("x.h5", "w")
    f.create_dataset("d", (100, 100), "i4")[:, ::2] = 1
    ends = os.pipe()
    for end in ends:
        os.set_inheritable(end, True)
    f.close()
    assert list(Path("x.h5.headrace").iterdir()), "the process has ended"
    os.close(ends[1])
    ready, *_ = select.select(ends[:1], [], [], 5)
    assert ready, "the process has the other end of the pipe"
    assert os.read(ends[0], 1) == b"", "the process has the other end of the pipe"
    assert list(Path("x.h5.headrace").iterdir()), "the process has ended"
    Path("go").touch()


def test_the_process_has_no_files_of_the_program(elsewhere: Elsewhere) -> None:
    """Who reads a pipe of the program sees its end; locks end with the program's closing them."""
    elsewhere.install(HELD)
    elsewhere.python(close_with_a_pipe_open, BACKGROUND)
    wait(elsewhere, "x.h5")
    assert elsewhere.log.count("/x.h5 is in order") == 1, elsewhere.log


def test_other_programs_meanwhile(elsewhere: Elsewhere) -> None:
    elsewhere.install(HELD)
    write(elsewhere)
    old = "f = h5py.File('x.h5'); print((f['d'][...] == -1).all(), len(f.attrs))"
    assert elsewhere.plain(old) == "True 1"
    elsewhere.python(check)
    assert waits(elsewhere)
    elsewhere.python("os.system('(sleep 1; touch go) &')\nh5py.File('x.h5', 'w')['new'] = 5")
    elsewhere.python("f = h5py.File('x.h5'); assert list(f) == ['new'] and not f.attrs")
    assert elsewhere.log.count("waiting until log") == 1, elsewhere.log
    assert not waits(elsewhere)


def write_when_the_process_has_seen_it() -> None:
    with h5py.File("x.h5", "r+") as f:
        Path("go").touch()
        Path("log").touch()
        while "a program has it open for writing" not in Path("log").read_text():
            time.sleep(0.1)
        f["new"] = 5


def check_new_and_old() -> None:
    f = h5py.File("x.h5", "r+")
    assert f["new"][()] == 5
    assert (f["d"][...] == expected()).all()


def test_a_plain_writer_meanwhile(elsewhere: Elsewhere) -> None:
    """It has HDF5's lock; nothing is put on top of what it writes."""
    elsewhere.install(HELD)
    write(elsewhere)
    elsewhere.plain(write_when_the_process_has_seen_it)
    assert waits(elsewhere)
    elsewhere.python(check_new_and_old)
    assert not waits(elsewhere)


@pytest.mark.parametrize("text", [None, "#!/bin/sh\nexit 1\n", "nonsense"])
def test_the_process_cannot_be_started(elsewhere: Elsewhere, text: str | None) -> None:
    elsewhere.install(text)
    write(elsewhere)
    assert waits(elsewhere)
    assert text == "#!/bin/sh\nexit 1\n" or "is not put in order in the background" in elsewhere.log
    elsewhere.python(check)
    elsewhere.python("h5py.File('x.h5', 'r+')")
    assert elsewhere.plain(check_ordinary) == ""
