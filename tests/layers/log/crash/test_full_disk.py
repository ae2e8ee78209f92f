"""A file system that is full, or that has just the room that native HDF5 needs."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import h5py
import numpy as np
import pytest
from harness.program import text_of
from harness.run import run
from harness.stack import CLEAN
from layers.log.later.commands import HEADRACE
from layers.log.program_parts import told

if TYPE_CHECKING:
    from harness.layer import Layer

LATER = "canonicalise=later;"
BACKGROUND = "canonicalise=background;"
FILE = "small/x.h5"
LITTLE = 300  # rows; 4.8 MB
MUCH = 900  # 14.4 MB
COLUMNS = 2000
LAYOUTS: dict[str, dict[str, Any]] = {
    "contiguous": {},
    "chunked": {"chunks": (25, 200)},
    "filtered": {"chunks": (25, 200), "compression": 1},
}


def given(rows: int) -> np.ndarray:
    return np.random.default_rng(1).random((rows, COLUMNS))


def write(d: h5py.Dataset, values: np.ndarray) -> None:
    """Rows are written in halves, every other element at a time."""
    half = values.shape[1] // 2
    for k in range(len(values)):
        d[k, 0::2], d[k, 1::2] = values[k].reshape(2, half)


def expected(values: np.ndarray) -> np.ndarray:
    half = values.shape[1] // 2
    rows = np.empty_like(values)
    rows[:, 0::2], rows[:, 1::2] = values[:, :half], values[:, half:]
    return rows


def create(values: np.ndarray, layout: str) -> tuple[h5py.File, h5py.Dataset]:
    f = h5py.File(FILE, "w")
    return f, f.create_dataset("d", values.shape, "f8", **LAYOUTS[layout])


def create_small_cache(values: np.ndarray) -> tuple[h5py.File, h5py.Dataset]:
    f = h5py.File(FILE, "w", rdcc_nbytes=1 << 20)
    return f, f.create_dataset("d", values.shape, "f8", chunks=(25, 400), shuffle=True)


def fill() -> None:
    with Path("small/ballast").open("wb", buffering=0) as ballast:
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


def empty() -> None:
    Path("small/ballast").unlink()


def refusal(action: Callable[[], object]) -> str:
    return told(action, (OSError, RuntimeError))


def check(rows: int) -> None:
    assert (h5py.File(FILE)["d"][...] == expected(given(rows))).all()


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


def settle(layer: Layer, options: str) -> None:
    """Puts in order what later openings are to."""
    if options:
        layer.python("h5py.File('small/x.h5', 'r+').close()")


def write_fail_and_mend(layout: str, mend: str) -> None:
    values = given(LITTLE)
    right = expected(values)
    f, d = create(values, layout)
    write(d, values)
    fill()
    for action in (f.flush, lambda: d[0], f.flush, lambda: d.__setitem__(0, 1), f.close, f.close):
        text = refusal(action)
        assert FILE in text, text
        assert "No space left on device" in text, text
    empty()
    if mend == "close":
        f.close()
    else:
        f.flush()
    if f.id.valid:
        d = f["d"]
        assert (d[...] == right).all()
        d[7, ::3] = 1
        assert (d[7, ::3] == 1).all()
        d[7] = right[7]
        f.close()


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize(
    ("options", "layout", "mend"),
    [
        ("", "contiguous", "flush"),
        ("", "filtered", "close"),
        (LATER, "chunked", "flush"),
        (LATER, "filtered", "close"),
        (BACKGROUND, "chunked", "close"),
    ],
)
def test_what_did_not_fit_does_when_there_is_room(
    layer: Layer, options: str, layout: str, mend: str
) -> None:
    layer.python(partial(write_fail_and_mend, layout, mend), options)
    assert layer.counted("writes_logged") >= 600
    settle(layer, options)
    layer.plain(partial(check, LITTLE))


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("stack", ["async,log", "log,async", "async,log(canonicalise=later)"])
def test_beside_write_behind(tmp_path: Path, layer: Layer, stack: str) -> None:
    report = tmp_path / "report"
    environ = CLEAN | {"HEADRACE_REPORT": str(report)}
    program = [sys.executable, "-c", text_of(partial(write_fail_and_mend, "chunked", "flush"))]
    done = run(
        [HEADRACE, "run", "--stack", stack, "--", *program], env=environ, cwd=tmp_path, limit=60
    )
    assert done.status == 0, done.text
    assert layer.counted("writes_logged") >= 600
    settle(layer, LATER * ("later" in stack))
    layer.plain(partial(check, LITTLE))


def lose_chunks() -> None:
    values = given(LITTLE)
    right = expected(values)
    f, d = create_small_cache(values)
    write(d, values)
    assert (d[275:, ::2] == right[275:, ::2]).all()  # all of it is HDF5's now
    fill()
    refusal(lambda: [d[k] for k in range(0, 300, 25)])
    empty()
    f.flush()
    assert (d[...] == right).all()
    f.close()


@pytest.mark.usefixtures("small")
def test_what_hdf5_loses_from_its_memory(layer: Layer) -> None:
    """It drops a chunk that is to make room for another one in memory, and that it cannot write."""
    layer.python(lose_chunks)
    layer.plain(partial(check, LITTLE))


def write_before_and_after_a_read() -> None:
    values = given(LITTLE)
    right = expected(values)
    f, d = create_small_cache(values)
    write(d, values[::-1])
    d[0]
    write(d, values)
    d[0] = 3
    d[0, ::2] = 4
    d[0], d[1, 1::2] = right[0], right[1, 1::2]
    fill()
    refusal(f.flush)
    empty()
    f.flush()
    f.close()


@pytest.mark.usefixtures("small")
def test_writes_after_a_read_are_later_ones(layer: Layer) -> None:
    """What HDF5 was given and has not flushed is given once more after a failure, and in order."""
    layer.python(write_before_and_after_a_read)
    layer.plain(partial(check, LITTLE))


def end_when_there_is_room() -> None:
    values = given(LITTLE)
    f, d = create(values, "contiguous")
    write(d, values)
    fill()
    refusal(f.close)
    empty()


@pytest.mark.usefixtures("small")
def test_the_end_of_the_program_is_one_more_chance(layer: Layer) -> None:
    layer.python(end_when_there_is_room)
    layer.plain(partial(check, LITTLE))


def write_much(layout: str) -> None:
    values = given(MUCH)
    f, d = create(values, layout)
    write(d, values)
    f.close()


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize(
    ("options", "layout"),
    [
        ("", "contiguous"),
        ("", "chunked"),
        ("", "filtered"),
        (LATER, "contiguous"),
        (LATER, "filtered"),
        (BACKGROUND, "chunked"),
    ],
)
def test_where_native_hdf5_has_room(layer: Layer, options: str, layout: str) -> None:
    """For 14.4 MB, which a log of them would not leave."""
    layer.python(partial(write_much, layout), options)
    assert layer.counted("writes_logged") > 50
    settle(layer, options)
    layer.plain(partial(check, MUCH))


def write_all_in_two_calls() -> None:
    values = given(MUCH)
    f, d = create(values, "chunked")
    d[:, 0::2], d[:, 1::2] = np.split(values, 2, 1)
    f.close()


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("options", ["", LATER])
def test_a_write_that_leaves_no_room_is_hdf5s(layer: Layer, options: str) -> None:
    layer.python(write_all_in_two_calls, options)
    settle(layer, options)
    layer.plain(partial(check, MUCH))


def write_natively() -> None:
    h5py.File(FILE, "w")["d"] = given(MUCH)


def write_over_it() -> None:
    f = h5py.File(FILE, "r+")
    write(f["d"], given(MUCH))
    f.close()


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("options", ["", LATER])
def test_what_is_there_takes_no_more_room(layer: Layer, options: str) -> None:
    """Native HDF5 overwrites it on a disk that is all but full."""
    layer.plain(write_natively)
    layer.python(write_over_it, options)
    settle(layer, options)
    layer.plain(partial(check, MUCH))
