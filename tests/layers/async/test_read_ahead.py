"""Reading ahead on slow storage: h5py sees the bytes of the file, whatever is written meanwhile."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
from harness.layer import NATIVE_BELOW, Layer, async_over
from harness.program import text_of
from harness.stack import CLEAN
from harness.until import until


def under(faults: str, below: str = NATIVE_BELOW) -> str:
    return f"under_vol=7204;under_info={{{faults};op=read;{below}}}"


SLOW = under("kind=delay;count=0;delay=5ms")
ROWS, COLUMNS = 32, 1 << 15
ROW_BYTES = COLUMNS * 8


def make_data() -> tuple[Any, Any]:
    """What x.h5 holds: the contiguous dataset c, and z in chunks of a row."""
    rng = np.random.default_rng(1)
    c = rng.integers(0, 1 << 40, (ROWS, COLUMNS))
    return c, rng.integers(0, 1 << 40, (ROWS, COLUMNS))


def write_data() -> None:
    c, z = make_data()
    with h5py.File("x.h5", "w", libver="latest") as f:
        f["c"] = c
        how = {"chunks": (1, COLUMNS), "compression": "gzip", "maxshape": (None, COLUMNS)}
        f.create_dataset("z", data=z, **how)


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    layer = async_over(tmp_path_factory.mktemp("prepared"))
    layer.plain(write_data)
    return layer.folder / "x.h5"


@pytest.fixture
def slow(tmp_path: Path, prepared: Path) -> Layer:
    """Every read takes 5 ms; x.h5 exists."""
    shutil.copy(prepared, tmp_path)
    return async_over(tmp_path, SLOW)


def read_forward(mode: str) -> None:
    c, z = make_data()
    with h5py.File("x.h5", mode) as f:
        for name, data in (("c", c), ("z", z)):
            assert all((f[name][i] == data[i]).all() for i in range(len(data)))
        turns = zip(f["c"], f["z"], f["c"][5:], strict=False)
        for (found_c, found_z, _), row_c, row_z in zip(turns, c, z, strict=False):
            assert (found_c == row_c).all()
            assert (found_z == row_z).all()


@pytest.mark.parametrize("mode", ["r", "r+"])
def test_readers_find_what_is_in_the_file(slow: Layer, mode: str) -> None:
    slow.python(partial(read_forward, mode))
    (told,) = slow.statistics("vfd")
    assert told["read_ahead_hit_bytes"] > 1.5 * ROWS * ROW_BYTES
    assert told["read_ahead_bytes"] < 1.6 * told["read_ahead_hit_bytes"]


def read_all() -> None:
    c, _ = make_data()
    assert (h5py.File("x.h5")["c"][:] == c).all()


def test_it_can_be_turned_off(slow: Layer) -> None:
    slow.python(read_all, "read_ahead=0;")
    assert not slow.statistics("vfd")


def read_and_write_anywhere(seed: int) -> None:
    """Two readers go forward; datasets come and go, so that the end of the file moves."""
    random = np.random.default_rng(seed)
    c, z = make_data()
    at = [0, ROWS // 2]
    with h5py.File("x.h5", "r+") as f:
        for step in range(150):
            what = random.integers(20)
            row, column = random.integers(len(c)), random.integers(COLUMNS)
            if what < 2:
                c[row, column : column + 50] = step
                f["c"][row, column : column + 50] = step
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
    np.save("c.npy", c)
    np.save("z.npy", z)


def require_saved() -> None:
    with h5py.File("x.h5") as f:
        for name in ("c", "z"):
            assert (f[name][:] == np.load(f"{name}.npy")).all()


@pytest.mark.parametrize("seed", range(3))
def test_what_is_written_is_read(slow: Layer, seed: int) -> None:
    options = ("", "flush_interval=1ms;", "budget=512KiB;read_ahead=1MiB;threads=1;")[seed]
    slow.python(partial(read_and_write_anywhere, seed), options)
    (told,) = slow.statistics("vfd")
    assert told["read_ahead_hit_bytes"] > 0
    slow.plain(require_saved)


def bytes_read() -> int:
    """By all threads of this process, so far."""
    return int(Path("/proc/self/io").read_text().split()[1])


def stored(place: int, row: int) -> bytes:
    """What the file holds of the dataset that begins at the place."""
    with Path("x.h5").open("rb") as file:
        file.seek(place + row * ROW_BYTES)
        return file.read(ROW_BYTES)


def write_what_was_read_ahead(place: int, then: str) -> None:
    c, _ = make_data()
    rows = range(11, 20, 2)
    before = bytes_read()
    with h5py.File("x.h5", "r+") as f:
        assert all((f["c"][i] == c[i]).all() for i in range(10))
        until(lambda: bytes_read() - before > (rows[0] + 1) * ROW_BYTES, 20)
        for row in rows:
            c[row, 100:30000] = row
            f["c"][row, 100:30000] = row
        if then == "flush":
            f.flush()
        elif then == "written behind":
            until(lambda: all(stored(place, row) == c[row].tobytes() for row in rows), 20)
        assert all((f["c"][i] == c[i]).all() for i in range(10, len(c)))


@pytest.mark.parametrize("then", ["flush", "written behind", "at once"])
def test_what_was_read_ahead_is_forgotten_when_it_is_written(slow: Layer, then: str) -> None:
    with h5py.File(slow.folder / "x.h5") as f:
        place = f["c"].id.get_offset()  # a program that asks the layer for it has nothing staged
    slow.python(partial(write_what_was_read_ahead, place, then), "flush_interval=10ms;")
    (told,) = slow.statistics("vfd")
    assert told["read_ahead_hit_bytes"] > 0


def read_again_after_errors() -> None:
    """Prints how many reads told of one."""
    c, _ = make_data()
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


@pytest.mark.parametrize("first", [8, 9, 12])
def test_an_error_is_the_readers_own(slow: Layer, first: int) -> None:
    """One read that fails ahead of the program is made again; one of its own is told."""
    layer = async_over(slow.folder, under(f"kind=error;first={first};journal=journal", SLOW))
    done = layer.python(read_again_after_errors)
    assert int(done.out) <= 1
    assert (slow.folder / "journal").read_text().count("\n") == 1


def read_in_spite_of_errors() -> None:
    c, _ = make_data()
    told = []
    f = h5py.File("x.h5")
    for i in range(len(c)):
        try:
            assert (f["c"][i] == c[i]).all(), i
        except OSError as error:
            told.append(str(error))
    assert all("errno" in text or "nput/output" in text for text in told), told
    assert 10 < len(told) < len(c) - 2, told


def test_lasting_errors_are_told(slow: Layer) -> None:
    layer = async_over(slow.folder, under("kind=error;first=12;count=0", SLOW))
    layer.python(read_in_spite_of_errors)
    (told,) = layer.statistics("vfd")
    assert told["read_ahead_bytes"] > 0


def fork_and_read_on() -> None:
    c, _ = make_data()
    f = h5py.File("x.h5")
    assert all((f["c"][i] == c[i]).all() for i in range(10))
    pid = os.fork()
    assert all((f["c"][i] == c[i]).all() for i in range(10, len(c)))
    if pid == 0:
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0


def test_fork_while_reading_ahead(slow: Layer) -> None:
    slow.python(fork_and_read_on)


def read_a_part(end: str) -> None:
    c, _ = make_data()
    f = h5py.File("x.h5", "r+")
    assert all((f["c"][i] == c[i]).all() for i in range(20))
    if end == "close":
        f.close()
    elif end == "_exit":
        os._exit(0)


@pytest.mark.parametrize("end", ["close", "exit", "_exit"])
def test_the_end_while_reading_ahead(slow: Layer, end: str) -> None:
    assert not slow.python(partial(read_a_part, end)).err


def write_what_is_asked_for() -> None:
    """Each number that comes, into rows of z; then it is told."""
    f = h5py.File("x.h5", "r+", libver="latest")
    f.swmr_mode = True
    for line in sys.stdin:
        for row in range(8):
            f["z"][row] = int(line)
        f["z"].flush()
        print(int(line), flush=True)


def ask(writer: subprocess.Popen[str], number: int) -> None:
    assert writer.stdin is not None
    assert writer.stdout is not None
    writer.stdin.write(f"{number}\n")
    writer.stdin.flush()
    assert writer.stdout.readline() == f"{number}\n"


def read_beside_a_writer(writing: str) -> None:
    command = [sys.executable, "-c", writing]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, env=CLEAN, text=True, stdin=pipe, stdout=pipe) as writer:
        ask(writer, 1)
        with h5py.File("x.h5", "r", swmr=True, libver="latest") as f:
            for i in range(2, 6):
                ask(writer, i)
                f["z"].refresh()
                assert all((f["z"][row] == i).all() for row in range(8)), i
    assert writer.returncode == 0


def test_readers_beside_a_swmr_writer_read_nothing_ahead(slow: Layer) -> None:
    """They see what has been written since they began."""
    slow.python(partial(read_beside_a_writer, text_of(write_what_is_asked_for)))
    assert not slow.statistics("vfd")


def write_by_descriptor() -> None:
    c, _ = make_data()
    f = h5py.File("x.h5", "r+")
    d = f["c"]
    assert all((d[i] == c[i]).all() for i in range(16))
    fd, place = f.id.get_vfd_handle(), d.id.get_offset()
    os.pwrite(fd, b"\1" * (8 << 20), place)
    assert all((d[i] == 0x0101010101010101).all() for i in range(16, len(c)))


def test_whoever_takes_the_descriptor_is_seen(slow: Layer) -> None:
    slow.python(write_by_descriptor)
    (told,) = slow.statistics("vfd")
    assert told["read_ahead_hit_bytes"] > 0
