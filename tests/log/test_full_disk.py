"""A file system that is full, or that has just the room that native HDF5 needs."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from harness.run import run
from harness.stack import CLEAN
from log.commands import HEADRACE
from log_layer import PRELUDE

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from log_layer import Log

LATER = "canonicalise=later;"
BACKGROUND = "canonicalise=background;"
# Rows are written in halves, every other element at a time.
PROGRAM = """
import os, h5py, numpy as np
FILE = "small/x.h5"
def fill():
    with open("small/ballast", "wb", buffering=0) as ballast:
        try:
            while True:
                ballast.write(bytes(1 << 20))
        except OSError:
            pass
        for _ in range(256):  # a write that does not fit writes a part
            try:
                ballast.write(bytes(4096))
            except OSError:
                break
def empty():
    os.remove("small/ballast")
def told(action):
    try:
        action()
    except (OSError, RuntimeError) as error:
        return str(error)
    raise AssertionError("nothing is told")
def write(d, values, first=0):
    half = values.shape[1] // 2
    for k in range(len(values)):
        both = values[k].reshape(2, half)
        d[first + k, 0::2], d[first + k, 1::2] = both
def expected(values):
    half = values.shape[1] // 2
    rows = np.empty_like(values)
    rows[:, 0::2], rows[:, 1::2] = values[:, :half], values[:, half:]
    return rows
VALUES = np.random.default_rng(1).random((300, {columns}))
RIGHT = expected(VALUES)
"""
LITTLE = PROGRAM.format(columns=2000)  # 4.8 MB
MUCH = PROGRAM.format(columns=6000)  # 14.4 MB
CONTIGUOUS, CHUNKED = "", ", chunks=(25, 200)"
FILTERED = CHUNKED + ", compression=1"
CREATE = """
f = h5py.File(FILE, "w")
d = f.create_dataset("d", VALUES.shape, "f8"{layout})
"""
FAIL = """
write(d, VALUES)
fill()
for action in (f.flush, lambda: d[0], f.flush, lambda: d.__setitem__(0, 1), f.close, f.close):
    text = told(action)
    assert "small/x.h5" in text and "No space left on device" in text, text
"""
MEND = """
empty()
{mend}()
if f.id.valid:
    d = f["d"]
    assert (d[...] == RIGHT).all()
    d[7, ::3] = 1
    assert (d[7, ::3] == 1).all()
    d[7] = RIGHT[7]
    f.close()
"""


@pytest.fixture
def small(tmp_path: Path) -> Iterator[Path]:
    """A file system of 20 MB, where one can be mounted."""
    folder = tmp_path / "small"
    folder.mkdir()
    mount: list[str | Path] = [
        "/usr/bin/mount",
        "-t",
        "tmpfs",
        "-o",
        "size=20000k",
        "tmpfs",
        folder,
    ]
    done = subprocess.run(mount, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        pytest.skip(done.stderr)
    yield folder
    subprocess.run(["/usr/bin/umount", "-l", folder], check=True)


def settle(layer: Log, options: str) -> None:
    """Puts in order what later openings are to."""
    if options:
        layer.python("h5py.File('small/x.h5', 'r+').close()")


def assert_right(layer: Log, program: str) -> None:
    layer.plain(program + "\nassert (h5py.File(FILE)['d'][...] == RIGHT).all()")


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize(
    ("options", "layout", "mend"),
    [
        ("", CONTIGUOUS, "f.flush"),
        ("", FILTERED, "f.close"),
        (LATER, CHUNKED, "f.flush"),
        (LATER, FILTERED, "f.close"),
        (BACKGROUND, CHUNKED, "f.close"),
    ],
)
def test_what_did_not_fit_does_when_there_is_room(
    layer: Log, options: str, layout: str, mend: str
) -> None:
    text = LITTLE + CREATE.format(layout=layout) + FAIL + MEND.format(mend=mend)
    layer.python(text, options)
    assert layer.counted("writes_logged") >= 600
    settle(layer, options)
    assert_right(layer, LITTLE)


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("stack", ["async,log", "log,async", "async,log(canonicalise=later)"])
def test_beside_write_behind(tmp_path: Path, layer: Log, stack: str) -> None:
    text = PRELUDE + LITTLE + CREATE.format(layout=CHUNKED) + FAIL + MEND.format(mend="f.flush")
    report = tmp_path / "report"
    environ = CLEAN | {"HEADRACE_REPORT": str(report)}
    command: list[str | Path] = [
        HEADRACE,
        "run",
        "--stack",
        stack,
        "--",
        sys.executable,
        "-c",
        text,
    ]
    done = run(command, env=environ, cwd=tmp_path, limit=60)
    assert done.status == 0, done.text
    assert layer.counted("writes_logged") >= 600
    settle(layer, LATER * ("later" in stack))
    assert_right(layer, LITTLE)


@pytest.mark.usefixtures("small")
def test_what_hdf5_loses_from_its_memory(layer: Log) -> None:
    """It drops a chunk that is to make room for another one in memory, and that it cannot write."""
    layer.python(
        LITTLE
        + """
f = h5py.File(FILE, "w", rdcc_nbytes=1 << 20)
d = f.create_dataset("d", VALUES.shape, "f8", chunks=(25, 400), shuffle=True)
write(d, VALUES)
assert (d[275:] == RIGHT[275:]).all()  # all of it is HDF5's now
fill()
told(lambda: [d[k] for k in range(0, 300, 25)])
empty()
f.flush()
assert (d[...] == RIGHT).all()
f.close()
"""
    )
    assert_right(layer, LITTLE)


@pytest.mark.usefixtures("small")
def test_writes_after_a_read_are_later_ones(layer: Log) -> None:
    """What HDF5 was given and has not flushed is given once more after a failure, and in order."""
    layer.python(
        LITTLE
        + """
f = h5py.File(FILE, "w", rdcc_nbytes=1 << 20)
d = f.create_dataset("d", VALUES.shape, "f8", chunks=(25, 400), shuffle=True)
write(d, VALUES[::-1])
d[0]
write(d, VALUES)
d[0] = 3
d[0, ::2] = 4
d[0], d[1, 1::2] = RIGHT[0], RIGHT[1, 1::2]
fill()
told(f.flush)
empty()
f.flush()
f.close()
"""
    )
    assert_right(layer, LITTLE)


@pytest.mark.usefixtures("small")
def test_the_end_of_the_program_is_one_more_chance(layer: Log) -> None:
    text = LITTLE + CREATE.format(layout="") + "write(d, VALUES); fill(); told(f.close); empty()"
    layer.python(text)
    assert_right(layer, LITTLE)


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize(
    ("options", "layout"),
    [
        ("", CONTIGUOUS),
        ("", CHUNKED),
        ("", FILTERED),
        (LATER, CONTIGUOUS),
        (LATER, FILTERED),
        (BACKGROUND, CHUNKED),
    ],
)
def test_where_native_hdf5_has_room(layer: Log, options: str, layout: str) -> None:
    """For 14.4 MB, which a log of them would not leave."""
    program = MUCH + CREATE.format(layout=layout) + "write(d, VALUES); f.close()"
    layer.python(program, options)
    assert layer.counted("writes_logged") > 100
    settle(layer, options)
    assert_right(layer, MUCH)


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("options", ["", LATER])
def test_a_write_that_leaves_no_room_is_hdf5s(layer: Log, options: str) -> None:
    program = (
        MUCH
        + CREATE.format(layout=CHUNKED)
        + "d[:, 0::2], d[:, 1::2] = np.split(VALUES, 2, 1); f.close()"
    )
    layer.python(program, options)
    settle(layer, options)
    assert_right(layer, MUCH)


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("options", ["", LATER])
def test_what_is_there_takes_no_more_room(layer: Log, options: str) -> None:
    """Native HDF5 overwrites it on a disk that is all but full."""
    layer.plain(MUCH + "h5py.File(FILE, 'w')['d'] = VALUES")
    layer.python(MUCH + "f = h5py.File(FILE, 'r+'); write(f['d'], VALUES); f.close()", options)
    settle(layer, options)
    assert_right(layer, MUCH)
