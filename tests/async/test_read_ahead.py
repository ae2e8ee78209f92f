"""Reading ahead on slow storage: h5py sees the bytes of the file, whatever is written meanwhile."""

from __future__ import annotations

import shutil
import textwrap
from typing import TYPE_CHECKING

import pytest
from async_layer import Async
from harness.stack import CLEAN

if TYPE_CHECKING:
    from pathlib import Path

PLAIN = "under_vol=0;under_info={}"


def under(faults: str, below: str = PLAIN) -> str:
    return f"under_vol=7204;under_info={{{faults};op=read;{below}}}"


SLOW = under("kind=delay;count=0;delay=5ms")
ROWS = 32  # of 256 KiB
PREPARE = f"""
    rng = np.random.default_rng(1)
    with h5py.File("x.h5", "w", libver="latest") as f:
        f["c"] = rng.integers(0, 1 << 40, ({ROWS}, 1 << 15))
        f.create_dataset("z", data=rng.integers(0, 1 << 40, ({ROWS}, 1 << 15)),
                         chunks=(1, 1 << 15), compression="gzip", maxshape=(None, 1 << 15))
"""
DATA = f"""
    import os, sys, h5py, numpy as np
    rng = np.random.default_rng(1)
    c, z = (rng.integers(0, 1 << 40, ({ROWS}, 1 << 15)) for i in range(2))
"""


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    layer = Async(tmp_path_factory.mktemp("prepared"))
    layer.plain(PREPARE)
    return layer.folder / "x.h5"


@pytest.fixture
def slow(tmp_path: Path, prepared: Path) -> Async:
    """Every read takes 5 ms; x.h5 exists."""
    shutil.copy(prepared, tmp_path)
    return Async(tmp_path, SLOW)


def program(text: str) -> str:
    return textwrap.dedent(DATA) + textwrap.dedent(text)


@pytest.mark.parametrize("mode", ["r", "r+"])
def test_readers_find_what_is_in_the_file(slow: Async, mode: str) -> None:
    slow.python(
        program(f"""
        with h5py.File("x.h5", "{mode}") as f:
            for name, data in (("c", c), ("z", z)):
                assert all((f[name][i] == data[i]).all() for i in range(len(data)))
            turns = zip(f["c"], f["z"], f["c"][5:])
            assert all((i == j).all() and (k == l).all() for (i, k, _), j, l in zip(turns, c, z))
        """)
    )
    (told,) = slow.statistics
    assert told["read_ahead_hit_bytes"] > 1.5 * ROWS * (1 << 18)
    assert told["read_ahead_bytes"] < 1.6 * told["read_ahead_hit_bytes"]


def test_it_can_be_turned_off(slow: Async) -> None:
    slow.python(program('assert (h5py.File("x.h5")["c"][:] == c).all()'), "read_ahead=0;")
    assert not slow.statistics


# Rows are read forward by two readers, and written anywhere; datasets come and go, so that the end
# of the file moves.
MIXED = """
    random = np.random.default_rng({seed})
    at = [0, {rows} // 2]
    with h5py.File("x.h5", "r+") as f:
        for step in range(150):
            what = random.integers(20)
            row, column = random.integers(len(c)), random.integers(1 << 15)
            if what < 2:
                c[row, column:column + 50] = step
                f["c"][row, column:column + 50] = step
            elif what == 2:
                c[row] = z[row] = step
                f["c"][row] = f["z"][row] = step
            elif what == 3:
                f.flush()
            elif what == 4:
                if "more" in f:
                    del f["more"]
                else:
                    f["more"] = np.full((row, 5000), step)
            elif what == 5:
                assert "more" not in f or (f["more"][:] == f["more"][0, 0]).all()
            else:
                reader = what % 2
                name, data = ("c", c) if what < 15 else ("z", z)
                found = f[name][at[reader]]
                assert (found == data[at[reader]]).all(), (step, name, at)
                at[reader] = (at[reader] + 1) % len(c)
    np.save("c.npy", c); np.save("z.npy", z)
"""


@pytest.mark.parametrize("seed", range(3))
def test_what_is_written_is_read(slow: Async, seed: int) -> None:
    options = ("", "flush_interval=1ms;", "budget=512KiB;read_ahead=1MiB;threads=1;")[seed]
    slow.python(program(MIXED.format(seed=seed, rows=ROWS)), options)
    (told,) = slow.statistics
    assert told["read_ahead_hit_bytes"] > 0
    found = slow.plain("""
        with h5py.File("x.h5") as f:
            print((f["c"][:] == np.load("c.npy")).all(), (f["z"][:] == np.load("z.npy")).all())
    """)
    assert found == "True True"


@pytest.mark.parametrize("call", ["f.flush()", "time.sleep(0.3)", "pass"])
def test_what_was_read_ahead_is_forgotten_when_it_is_written(slow: Async, call: str) -> None:
    slow.python(
        program(f"""
        import time
        with h5py.File("x.h5", "r+") as f:
            assert all((f["c"][i] == c[i]).all() for i in range(10))
            time.sleep(0.1)  # some of the next rows are in memory
            for row in range(11, 20, 2):
                c[row, 100:30000] = row
                f["c"][row, 100:30000] = row
            {call}
            assert all((f["c"][i] == c[i]).all() for i in range(10, len(c)))
        """),
        "flush_interval=10ms;",
    )
    (told,) = slow.statistics
    assert told["read_ahead_hit_bytes"] > 0


@pytest.mark.parametrize("first", [8, 9, 12])
def test_an_error_is_the_readers_own(slow: Async, first: int) -> None:
    """One read that fails ahead of the program is made again; one of its own is told."""
    layer = Async(slow.folder, under(f"kind=error;first={first};journal=journal", SLOW))
    done = layer.python(
        program("""
        told = 0
        with h5py.File("x.h5") as f:
            for i in range(len(c)):
                try:
                    row = f["c"][i]
                except OSError as error:
                    told += "Input/output error" in str(error)
                    row = f["c"][i]
                assert (row == c[i]).all(), i
        print(told)
        """)
    )
    assert int(done.out) <= 1
    assert (slow.folder / "journal").read_text().count("\n") == 1


def test_lasting_errors_are_told(slow: Async) -> None:
    layer = Async(slow.folder, under("kind=error;first=12;count=0", SLOW))
    layer.python(
        program("""
        failed = 0
        f = h5py.File("x.h5")
        for i in range(len(c)):
            try:
                assert (f["c"][i] == c[i]).all(), i
            except OSError as error:
                assert "errno" in str(error) or "nput/output" in str(error), error
                failed += 1
        assert 10 < failed < len(c) - 2, failed
        """)
    )
    (told,) = layer.statistics
    assert told["read_ahead_bytes"] > 0


def test_fork_while_reading_ahead(slow: Async) -> None:
    slow.python(
        program("""
        f = h5py.File("x.h5")
        assert all((f["c"][i] == c[i]).all() for i in range(10))
        pid = os.fork()
        assert all((f["c"][i] == c[i]).all() for i in range(10, len(c)))
        if pid == 0:
            os._exit(0)
        assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
        """)
    )


@pytest.mark.parametrize("end", ["f.close()", "pass", "os._exit(0)"])
def test_the_end_while_reading_ahead(slow: Async, end: str) -> None:
    done = slow.python(
        program(f"""
        f = h5py.File("x.h5", "r+")
        assert all((f["c"][i] == c[i]).all() for i in range(20))
        {end}
        """)
    )
    assert not done.err


def test_readers_beside_a_swmr_writer_read_nothing_ahead(slow: Async) -> None:
    """They see what has been written since they began."""
    writer = slow.folder / "writer.py"
    writer.write_text(
        textwrap.dedent("""
        import sys, h5py, numpy as np
        f = h5py.File("x.h5", "r+", libver="latest")
        f.swmr_mode = True
        for line in sys.stdin:
            i = int(line)
            for row in range(8):
                f["z"][row] = i
            f["z"].flush()
            print(i, flush=True)
        """)
    )
    slow.python(
        program(f"""
        import subprocess
        writer = subprocess.Popen([sys.executable, "writer.py"], env={CLEAN!r}, text=True,
                                  stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        def write(i):
            writer.stdin.write(f"{{i}}\\n"); writer.stdin.flush()
            assert writer.stdout.readline() == f"{{i}}\\n"
        write(1)
        with h5py.File("x.h5", "r", swmr=True, libver="latest") as f:
            for i in range(2, 6):
                write(i)
                f["z"].refresh()
                assert all((f["z"][row] == i).all() for row in range(8)), i
        writer.stdin.close()
        assert writer.wait() == 0
        """)
    )
    assert not slow.statistics


def test_whoever_takes_the_descriptor_is_seen(slow: Async) -> None:
    slow.python(
        program("""
        f = h5py.File("x.h5", "r+")
        d = f["c"]
        assert all((d[i] == c[i]).all() for i in range(16))
        fd, place = f.id.get_vfd_handle(), d.id.get_offset()
        os.pwrite(fd, b"\\1" * (8 << 20), place)
        assert all((d[i] == 0x0101010101010101).all() for i in range(16, len(c)))
        """)
    )
    (told,) = slow.statistics
    assert told["read_ahead_hit_bytes"] > 0
