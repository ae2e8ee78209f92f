"""headrace replay by ranks: `mpirun -n N headrace replay --hdf5 LIBHDF5 FILE`."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path

import h5py
import numpy as np
import pytest
from harness.layer import Layer
from harness.prefix import Hdf5
from harness.ranks import launch
from harness.run import Result, run
from harness.stack import CLEAN
from layers.log.ranks.kept_by_ranks import logs_of, require, start, succeed

HEADRACE = str(Path(sys.executable).with_name("headrace"))
LEFT = ("left.h5",)
DONE = ["left.h5 has all that was in its log"]

everywhere = pytest.mark.parametrize(
    ("hdf5", "ranks"), [("1.14.5-openmpi", 3), ("2.2.0-mpich", 2)], indirect=["hdf5"]
)
one = pytest.mark.parametrize("hdf5", ["1.14.5-openmpi"], indirect=True)


def headrace(layer: Layer, hdf5: Hdf5, ranks: int, *arguments: str) -> Result:
    report = {"HEADRACE_REPORT": str(layer.folder / "report")}
    command = [*launch(hdf5, ranks), HEADRACE, *arguments]
    return run(command, env=CLEAN | report, cwd=layer.folder, limit=60)


def library(hdf5: Hdf5) -> str:
    return f"--hdf5={hdf5.prefix}/lib/libhdf5.so"


def put_in_order(layer: Layer, hdf5: Hdf5, ranks: int, *options: str) -> None:
    before = len(layer.loads)
    done = headrace(layer, hdf5, ranks, "replay", library(hdf5), *options, "left.h5")
    assert done.status == 0, done.text
    assert done.out.decode().splitlines() == DONE, done.text
    assert len(layer.loads) == before + ranks
    assert not logs_of(layer, "left.h5")


@pytest.mark.share(2)
@everywhere
@pytest.mark.parametrize("options", [(), ("--in-place",)])
def test_logs_of_ranks(layer: Layer, hdf5: Hdf5, ranks: int, options: tuple[str, ...]) -> None:
    succeed(layer, hdf5, 2, "mpi_logs", "forget")
    before = (layer.folder / "left.h5").read_bytes()
    done = headrace(layer, hdf5, ranks, "replay", library(hdf5), "left.h5", "--output=y.h5")
    assert done.out.decode().splitlines() == ["y.h5 has all that was in its log"], done.text
    assert (layer.folder / "left.h5").read_bytes() == before
    assert not (layer.folder / "y.h5.headrace").exists()
    inode = (layer.folder / "left.h5").stat().st_ino
    put_in_order(layer, hdf5, ranks, *options)
    assert ((layer.folder / "left.h5").stat().st_ino == inode) == bool(options)
    require(layer, LEFT, marked=False)
    (layer.folder / "y.h5").rename(layer.folder / "left.h5")
    require(layer, LEFT, marked=False)


def write_rows(name: str) -> None:
    with h5py.File(name, "w") as f:
        rng = np.random.default_rng(5)
        for options in {}, {"chunks": (7, 9)}, {"chunks": (10, 25), "compression": 1}:
            d = f.create_dataset(f"d{len(f)}", (100, 90), "i4", fillvalue=-1, **options)
            for _ in range(200):
                column, row = rng.integers(90), rng.integers(1, 9)
                d[row::row, column] = np.arange(100)[row::row] * column


def compare(name: str, expected: str) -> None:
    f, native = h5py.File(name), h5py.File(expected)
    assert list(f) == list(native)
    assert len(f) == 3
    assert not f.attrs
    assert all((f[each][...] == native[each][...]).all() for each in f)


@everywhere
def test_the_log_of_one_process(layer: Layer, hdf5: Hdf5, ranks: int) -> None:
    layer.python(partial(write_rows, "left.h5"), "canonicalise=later;")
    layer.plain(partial(write_rows, "native.h5"))
    assert len(logs_of(layer, "left.h5")) == 1
    put_in_order(layer, hdf5, ranks)
    layer.plain(partial(compare, "left.h5", "native.h5"))


@one
def test_after_a_crash(layer: Layer, hdf5: Hdf5) -> None:
    start(layer, hdf5, 2, "mpi_logs", "crash")
    assert "did not close it" in headrace(layer, hdf5, 2, "replay", library(hdf5), "left.h5").text
    done = headrace(layer, hdf5, 2, "recover", library(hdf5), "left.h5")
    assert done.status == 0, done.text
    assert done.out.decode().splitlines() == DONE, done.text
    require(layer, LEFT, marked=False)


@everywhere
def test_a_damaged_log(layer: Layer, hdf5: Hdf5, ranks: int) -> None:
    """All ranks end, and one says why."""
    succeed(layer, hdf5, 2, "mpi_logs", "forget")
    log = logs_of(layer, "left.h5")[1]
    whole, before = log.read_bytes(), (layer.folder / "left.h5").read_bytes()
    log.write_bytes(whole[:100] + bytes([whole[100] ^ 1]) + whole[101:])
    done = headrace(layer, hdf5, ranks, "replay", library(hdf5), "left.h5")
    assert done.status != 0
    assert done.text.count(f"log {log} cannot be used") == 1, done.text
    assert (layer.folder / "left.h5").read_bytes() == before
    log.write_bytes(whole)
    put_in_order(layer, hdf5, ranks)


@one
def test_who_must_not(layer: Layer, hdf5: Hdf5) -> None:
    succeed(layer, hdf5, 2, "mpi_logs", "forget")
    before = (layer.folder / "left.h5").read_bytes()
    (serial,) = Path(h5py.__file__).parents[1].glob("h5py.libs/libhdf5-*")
    for options, cause in {
        (): "2 processes were started",
        (f"--hdf5={serial}",): "is a serial HDF5",
        ("--hdf5=nothing.so",): "nothing.so",
        (library(hdf5), "--output=y.h5", "--in-place"): "no copy in place",
        (library(hdf5), "--output=left.h5"): "is there already",
    }.items():
        done = headrace(layer, hdf5, 2, "replay", *options, "left.h5")
        assert done.status != 0
        assert cause in done.text
        assert (layer.folder / "left.h5").read_bytes() == before
    assert len(logs_of(layer, "left.h5")) == 2
