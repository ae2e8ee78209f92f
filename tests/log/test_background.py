"""Logs that a process of its own puts in order after the program: canonicalise=background."""

from __future__ import annotations

import os
import random
import signal
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from harness.run import run
from harness.stack import CLEAN
from log.background import HELD, Elsewhere, processes, wait
from log_layer import PLUGINS, Log

if TYPE_CHECKING:
    from harness.prefix import Hdf5

BACKGROUND = "canonicalise=background;"
PROGRAMS = PLUGINS.parents[1] / "tests/log"
KILLS = 12
WRITE = """
    f = h5py.File("x.h5", "w", libver={libver!r})
    d = f.create_dataset("d", (100, 1000), "i4", chunks={chunks}, fillvalue=-1)
    for k in range(0, 1000, 2):
        d[:, k] = np.arange(100) + k
    {end}
"""
EXPECTED = """
    d = np.full((100, 1000), -1)
    d[:, ::2] = np.arange(100)[:, None] + np.arange(0, 1000, 2)
"""
SAME = "assert (f['d'][...] == d).all()"
MANY = """
    with h5py.File("x.h5", "w", libver={libver!r}) as f:
        d = f.create_dataset("d", (600, 1000), "i4", chunks=(10, 10), compression=1)
        d[:, ::2] = np.arange(600)[:, None] + np.arange(500) + {kill}
"""
CHECK = """
    with h5py.File("x.h5"{mode}) as f:
        d = f["d"][...]
        assert (d[:, ::2] == np.arange(600)[:, None] + np.arange(500) + {kill}).all()
        assert not d[:, 1::2].any()
"""
PLAIN = EXPECTED + "    f = h5py.File('x.h5')\n    assert not f.attrs\n    " + SAME


@pytest.fixture
def elsewhere(tmp_path: Path) -> Elsewhere:
    return Elsewhere(tmp_path)


def write(
    layer: Log,
    chunks: tuple[int, int] | None = (10, 100),
    end: str = "f.close()",
    libver: str = "earliest",
) -> None:
    layer.python(WRITE.format(chunks=chunks, end=end, libver=libver), BACKGROUND)
    assert "_exit" in end or layer.counted("writes_logged") >= 500


def await_line(layer: Log, text: str) -> None:
    end = time.monotonic() + 30
    while text not in layer.log:
        assert time.monotonic() < end, layer.log
        time.sleep(0.01)


def waits(layer: Log) -> bool:
    return bool(list(layer.folder.glob("x.h5.headrace/*.log")))


@pytest.mark.parametrize("chunks", [None, (10, 100)])
@pytest.mark.parametrize("options", [BACKGROUND, BACKGROUND + "sync=true;"])
@pytest.mark.parametrize("end", ["f.close()", "import ctypes; ctypes.CDLL(None).exit(0)"])
def test_a_file_is_an_ordinary_one_soon(
    layer: Log, chunks: tuple[int, int] | None, options: str, end: str
) -> None:
    layer.python(WRITE.format(chunks=chunks, end=end, libver="earliest"), options)
    wait(layer, "x.h5")
    assert layer.counted("writes_logged") >= 500
    assert layer.log.count("/x.h5 is in order") == 1, layer.log
    assert layer.plain(PLAIN) == ""
    assert not [*layer.folder.glob("x.h5.*")]


def test_the_program_does_not_wait(elsewhere: Elsewhere) -> None:
    elsewhere.install(HELD)
    text = WRITE.format(chunks=(10, 100), end="f.close()", libver="latest")
    elsewhere.python(
        EXPECTED.replace("d", "D")
        + """
    with h5py.File("y.h5", "w") as other:"""
        + text.replace("    ", " " * 8)
        + """
    # Nobody else has the lock of what was open in the meantime.
    h5py.File("y.h5", "r+").close()
    assert not os.path.exists("y.h5.headrace")
    with h5py.File("x.h5") as f:
        assert (f["d"][...] == D).all(), "read through the log"
    assert os.path.exists("x.h5.headrace")
    try:
        os.waitpid(-1, os.WNOHANG)
    except ChildProcessError:
        open("alone", "w")
    os.system("(sleep 1; touch go) &")
    with h5py.File("x.h5", "r+") as f:
        assert os.path.exists("go")
        assert (f["d"][...] == D).all() and not f.attrs
    assert not os.path.exists("x.h5.headrace")
    """,
        BACKGROUND,
    )
    assert (elsewhere.folder / "alone").exists(), "a child is left to the program"
    assert elsewhere.log.count("waiting until log") == 1, elsewhere.log


def test_the_process_has_no_files_of_the_program(elsewhere: Elsewhere) -> None:
    """Who reads a pipe of the program sees its end; locks end with the program's closing them."""
    elsewhere.install(HELD)
    elsewhere.python(
        """
    import select
    f = h5py.File("x.h5", "w")
    f.create_dataset("d", (100, 100), "i4")[:, ::2] = 1
    ends = os.pipe()
    for end in ends: os.set_inheritable(end, True)
    f.close()
    assert os.listdir("x.h5.headrace"), "the process has ended"
    os.close(ends[1])
    ready, *_ = select.select(ends[:1], [], [], 5)
    assert ready and os.read(ends[0], 1) == b"", "the process has the other end of the pipe"
    assert os.listdir("x.h5.headrace"), "the process has ended"
    open("go", "w")
    """,
        BACKGROUND,
    )
    wait(elsewhere, "x.h5")
    assert elsewhere.log.count("/x.h5 is in order") == 1, elsewhere.log


def test_other_programs_meanwhile(elsewhere: Elsewhere) -> None:
    elsewhere.install(HELD)
    write(elsewhere)
    old = "f = h5py.File('x.h5'); print((f['d'][...] == -1).all(), len(f.attrs))"
    assert elsewhere.plain(old) == "True 1"
    elsewhere.python(EXPECTED + "    f = h5py.File('x.h5')\n    " + SAME)
    assert waits(elsewhere)
    elsewhere.python("os.system('(sleep 1; touch go) &')\nh5py.File('x.h5', 'w')['new'] = 5")
    elsewhere.python("f = h5py.File('x.h5'); assert list(f) == ['new'] and not f.attrs")
    assert elsewhere.log.count("waiting until log") == 1, elsewhere.log
    assert not waits(elsewhere)


def test_a_plain_writer_meanwhile(elsewhere: Elsewhere) -> None:
    """It has HDF5's lock; nothing is put on top of what it writes."""
    elsewhere.install(HELD)
    write(elsewhere)
    elsewhere.plain("""
        import time
        with h5py.File("x.h5", "r+") as f:
            open("go", "w"), open("log", "a")
            while "a program has it open for writing" not in open("log").read():
                time.sleep(0.1)
            f["new"] = 5
    """)
    assert waits(elsewhere)
    check = "    f = h5py.File('x.h5', 'r+')\n    assert f['new'][()] == 5\n    " + SAME
    elsewhere.python(EXPECTED + check)
    assert not waits(elsewhere)


def change_meanwhile(layer: Log, change: str) -> None:
    layer.python(MANY.format(libver="earliest", kill=0), BACKGROUND)
    while not [*layer.folder.glob("x.h5.headrace/*.log.h5.headrace")]:
        assert waits(layer), "it was too quick"
    (process,) = processes(layer)
    os.kill(process, signal.SIGSTOP)
    layer.plain(change)
    os.kill(process, signal.SIGCONT)
    await_line(layer, "it has been changed meanwhile")
    layer.python(CHECK.format(mode=", 'r+'", kill=0))


def test_a_plain_writer_without_locks(layer: Log, monkeypatch: pytest.MonkeyPatch) -> None:
    """What it writes while the process is at work is not lost."""
    monkeypatch.setitem(CLEAN, "HDF5_USE_FILE_LOCKING", "FALSE")
    change_meanwhile(layer, "h5py.File('x.h5', 'r+')['new'] = 5")
    layer.plain(CHECK.format(mode="", kill=0) + "        assert f['new'][()] == 5")


@pytest.mark.parametrize("change", ["os.link('x.h5', 'y.h5')", "os.chmod('x.h5', 0o600)"])
def test_names_and_modes_are_kept(layer: Log, change: str) -> None:
    change_meanwhile(layer, change)
    layer.plain(CHECK.format(mode="", kill=0))
    file = layer.folder / "x.h5"
    if "link" in change:
        assert file.samefile(layer.folder / "y.h5")
    else:
        assert file.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("text", [None, "#!/bin/sh\nexit 1\n", "nonsense"])
def test_the_process_cannot_be_started(elsewhere: Elsewhere, text: str | None) -> None:
    elsewhere.install(text)
    write(elsewhere)
    assert waits(elsewhere)
    assert text == "#!/bin/sh\nexit 1\n" or "is not put in order in the background" in elsewhere.log
    elsewhere.python(EXPECTED + "    f = h5py.File('x.h5')\n    " + SAME)
    elsewhere.python("h5py.File('x.h5', 'r+')")
    assert elsewhere.plain(PLAIN) == ""


def test_a_file_with_two_names(layer: Log) -> None:
    write(layer, end="os.link('x.h5', 'y.h5'); f.close()")
    await_line(layer, "it has several names")
    assert waits(layer)
    layer.python("h5py.File('x.h5', 'r+')")
    assert layer.plain(EXPECTED + "    f = h5py.File('y.h5')\n    " + SAME) == ""


def test_who_may_read_the_file(layer: Log) -> None:
    write(layer, end="os.chmod('x.h5', 0o640); os.setxattr('x.h5', 'user.a', b'b'); f.close()")
    wait(layer, "x.h5")
    assert (layer.folder / "x.h5").stat().st_mode & 0o777 == 0o640
    assert os.getxattr(layer.folder / "x.h5", "user.a") == b"b"
    assert layer.plain(PLAIN) == ""


@pytest.mark.parametrize("libver", ["earliest", "latest"])
def test_killed_at_any_moment(layer: Log, libver: str) -> None:
    """The file is as it was or whole, and what was left of the process goes."""
    rng = random.Random(7)  # noqa: S311
    killed = 0
    for kill in range(KILLS):
        layer.python(MANY.format(libver=libver, kill=kill), BACKGROUND)
        time.sleep(rng.random() * 0.4)
        for process in processes(layer):
            os.kill(process, signal.SIGKILL)
            killed += 1
        if kill % 2:
            layer.python(CHECK.format(mode="", kill=kill))
        layer.python(CHECK.format(mode=", 'r+'", kill=kill))
        wait(layer, "x.h5")
        assert layer.plain(CHECK.format(mode="", kill=kill)) == ""
    assert killed > KILLS / 4, "others had ended"


def test_a_program_that_is_killed(layer: Log) -> None:
    """As with later: nothing is begun before the file is closed."""
    write(layer, end="f.flush(); os._exit(0)")
    assert waits(layer)
    assert not processes(layer)
    done = layer.start("h5py.File('x.h5')")
    assert "did not close it" in done.text
    layer.python(EXPECTED + "    f = h5py.File('x.h5', 'r+')\n    " + SAME, "recover=true;")
    assert layer.plain(PLAIN) == ""


def test_closed_a_hundred_times(layer: Log) -> None:
    layer.python(
        """
    h5py.File("x.h5", "w").create_dataset("d", (100, 60), "i4", chunks=(7, 11))
    for k in range(100):
        with h5py.File("x.h5", "r+") as f:
            f["d"][k, ::2] = k
            f["d"][k, 1::3] = -k
        with h5py.File("x.h5") as f:
            assert (f["d"][k, ::6] == k).all()
    """,
        BACKGROUND,
        limit=200,
    )
    wait(layer, "x.h5")
    assert layer.counted("writes_logged") >= 100
    assert (
        layer.plain("""
        d = np.zeros((100, 60))
        d[:, ::2] = np.arange(100)[:, None]
        d[:, 1::3] = -np.arange(100)[:, None]
        assert (h5py.File("x.h5")["d"][...] == d).all()
        """)
        == ""
    )


def test_several_files_and_a_fork(layer: Log) -> None:
    layer.python(
        """
    files = [h5py.File(f"{k}.h5", "w") for k in range(5)]
    for k, f in enumerate(files):
        f.create_dataset("d", (50, 50), "i4")[:, ::2] = k
    for f in files[:2]: f.close()
    if os.fork() == 0:
        with h5py.File("5.h5", "w") as f: f.create_dataset("d", (50, 50), "i4")[:, ::2] = 5
        os._exit(0)
    os.wait()
    for f in files[2:4]: f["d"][:, ::2] = f.filename[0]
    for f in files[2:4]: f.close()
    """,
        BACKGROUND,
    )
    wait(layer, *(f"{k}.h5" for k in range(6)))
    assert layer.log.count(" is in order") >= 4, layer.log
    layer.plain("""
        for k in range(6):
            d = h5py.File(f"{k}.h5")["d"]
            assert (d[:, ::2] == k).all() and not d[:, 1::2].any(), k
    """)


def test_a_serial_program_of_a_parallel_library(layer: Log, hdf5: Hdf5) -> None:
    """HDF5 itself closes the file, by H5close() and at the end of the process."""
    program = PROGRAMS / f"ends_{hdf5.mpi}"
    assert program.exists(), f"{program} is not built"
    done = run([program, "x.h5"], env=layer.env(BACKGROUND), cwd=layer.folder, limit=60)
    assert done.status == 0, done.text
    assert layer.loads
    wait(layer, "x.h5")
    assert layer.log.count("/x.h5 is in order") == 3, layer.log
    layer.plain("assert (h5py.File('x.h5')['d'][...] == np.arange(90) % 3 + 1).all()")
