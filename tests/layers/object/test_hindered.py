"""A store without room, and a clock that jumps backwards."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import h5py
import numpy as np
import pytest
from harness.corpus import build_clock
from harness.layer import Layer
from layers.object.test_garbage import ask, assert_clean

ROOM = "20000k"


@pytest.fixture
def crowded(tmp_path: Path) -> Iterator[Layer]:
    """Its store is on a small file system of its own, where one can be mounted."""
    (folder := tmp_path / "small").mkdir()
    mount = ["/usr/bin/mount", "-t", "tmpfs", "-o", f"size={ROOM}", "tmpfs", str(folder)]
    done = subprocess.run(mount, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        pytest.skip(done.stderr)
    yield Layer(tmp_path, "object", usual=f"store={folder}/store;")
    subprocess.run(["/usr/bin/umount", "-l", folder], check=True)


def fill() -> None:
    with Path("small/ballast").open("wb", buffering=0) as ballast:
        try:
            while True:
                ballast.write(bytes(1 << 16))
        except OSError:
            pass


def assert_refused(f: h5py.File, what: str) -> None:
    """The error says which object of which file, what could not be written and why."""
    try:
        f.flush()
    except (OSError, RuntimeError) as error:
        text = str(error)
        assert "No space left on device" in text, text
        assert "small/store" in text, text
        assert what in text, text
        assert "x.h5" in text, text
    else:
        raise AssertionError("it was flushed")


def run_out_of_room(kind: str) -> None:
    f = h5py.File("x.h5", "w")
    f["first"] = np.arange(1000)
    f.flush()
    fill()
    rng = np.random.default_rng(1)
    data = rng.integers(0, 1 << 60, 200_000)
    if kind == "chunks":  # files of their own
        d = f.create_dataset("much", data=data, chunks=(20_000,), compression=1)
    elif kind == "small chunks":  # in the database
        d = f.create_dataset("much", data=data, chunks=(500,))
    else:
        d = f.create_dataset("much", (200_000,), h5py.string_dtype(), chunks=(500,))
        d[...] = [str(n) for n in data]
    for name in range(50):
        f.create_group(f"group{name}").attrs["n"] = name
    for _ in range(2):
        assert_refused(f, "dataset /much" if kind != "strings" else "strings and sequences")
    assert f["first"][999] == 999
    Path("small/ballast").unlink()
    f.flush()
    d[7] = d[8]
    f.close()


def look_again(kind: str) -> None:
    data = np.random.default_rng(1).integers(0, 1 << 60, 200_000)
    data[7] = data[8]
    with h5py.File("x.h5") as f:
        assert (f["first"][...] == np.arange(1000)).all()
        assert [f[f"group{name}"].attrs["n"] for name in range(50)] == list(range(50))
        found = f["much"].asstr()[...].astype("i8") if kind == "strings" else f["much"][...]
        assert (found == data).all()


@pytest.mark.parametrize("kind", ["chunks", "small chunks", "strings"])
def test_no_room_and_then_room(crowded: Layer, kind: str) -> None:
    crowded.python(partial(run_out_of_room, kind))
    crowded.python(partial(look_again, kind))
    ask(crowded, "gc", "small/store")
    assert_clean(crowded, "small/store")


def add(name: str) -> None:
    with h5py.File("x.h5", "a", track_order=True) as f:
        for number in range(20):
            group = f.create_group(f"{name}{number}", track_order=True)
            group.attrs["a"], group["d"] = number, np.arange(number)
            f.attrs[f"{name}{number}"] = number
        if name == "later":
            del f["now3"], f.attrs["now3"]
            f.move("past4", "moved")


def show_order() -> None:
    with h5py.File("x.h5", "r") as f:
        print(list(f), list(f.attrs))
        print([f[name]["d"].shape[0] == f[name].attrs["a"] for name in f])


def test_a_clock_that_jumps_backwards(object_layer: Layer, tmp_path: Path) -> None:
    """What was made later comes later, whatever the calendar says."""
    clock = str(build_clock(tmp_path))
    told = []
    for options in (..., None):
        object_layer.python(partial(add, "now"), options)
        object_layer.python(partial(add, "past"), options, LD_PRELOAD=clock)
        object_layer.python(partial(add, "later"), options)
        told.append(object_layer.python(show_order, options).out)
        if options is not None:
            ask(object_layer, "gc", "store")
            assert_clean(object_layer, "store")
        (tmp_path / "x.h5").unlink()
    assert told[0] == told[1]
    assert b"False" not in told[0]
