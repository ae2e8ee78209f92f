"""Programs that have several libraries of HDF5, or children, at one container."""

from __future__ import annotations

import os
from pathlib import Path

import h5py
import netCDF4
import numpy as np
import pytest
import tables
from harness.layer import Layer

ABOVE = ("trace", "async", "cache")


def by_three_libraries() -> None:
    """Each brings a libhdf5 of its own; what one has written the others read and change."""
    with h5py.File("x.h5", "w", track_order=True) as f:  # which netCDF asks for
        f.create_dataset("d", data=np.arange(1000).reshape(10, 100), chunks=(3, 40), compression=1)
        f["words"] = np.array(["a", "bb"], dtype=h5py.string_dtype())
    with netCDF4.Dataset("x.h5", "a") as n:
        n.createDimension("time", None)
        n.createVariable("t", "f8", ("time",), zlib=True, chunksizes=(5,))
    for turn in range(4):
        with tables.open_file("x.h5", "a") as t:
            t.create_table(f"/tables{turn}", "rows", np.zeros(50, "i4,f8"), createparents=True)
            t.root.d[turn, :] = turn
        with h5py.File("x.h5", "r+") as f:
            assert (f["d"][turn] == turn).all()
            f["t"].resize((turn * 7 + 7,))
            f["t"][turn * 7 :] = turn
            assert f[f"tables{turn}/rows"].shape == (50,)
            f.attrs[f"turn{turn}"] = turn
    # At the same time.
    with h5py.File("x.h5", "r+") as f, tables.open_file("x.h5", "a") as t:
        for turn in range(20):
            f[f"h/{turn}"] = np.full(100, turn)
            t.create_array("/arrays", f"a{turn}", np.full(100, turn), createparents=True)
            if turn % 5 == 0:
                f.flush()
                t.flush()
        f["d"][8], t.root.d[9, :] = 88, 99
    with netCDF4.Dataset("x.h5") as n:
        assert [set(n["t"][at * 7 : at * 7 + 7]) for at in range(4)] == [{0}, {1}, {2}, {3}]
    with h5py.File("x.h5") as f:
        assert all((f[f"h/{turn}"][...] == turn).all() for turn in range(20))
        assert all((f[f"arrays/a{turn}"][...] == turn).all() for turn in range(20))
        assert [set(row) for row in f["d"][8:].tolist()] == [{88}, {99}]


def by_children() -> None:
    """Which read what the parent has open, what it has flushed, and files of their own."""
    f = h5py.File("x.h5", "w")
    d = f.create_dataset("d", data=np.arange(60_000), chunks=(1000,), compression=1)
    f.flush()
    children = []
    for which in range(4):
        child = os.fork()
        if child == 0:
            right = (d[which * 1000 : 5000] == np.arange(which * 1000, 5000)).all()
            with h5py.File(f"own{which}.h5", "w") as own:
                own.create_dataset("d", data=d[which::4], chunks=(500,), compression=1)
            with h5py.File(f"own{which}.h5") as own:
                right = right and (own["d"][...] == np.arange(which, 60_000, 4)).all()
            os._exit(0 if right else 1)
        children.append(child)
        d[50_000 + which] = which
    assert [os.waitpid(child, 0)[1] for child in children] == [0] * 4
    f.close()
    with h5py.File("x.h5") as f:
        assert f["d"][50_000:50_004].tolist() == [0, 1, 2, 3]
    for which in range(4):
        with h5py.File(f"own{which}.h5") as f:
            assert f["d"][-1] == 59_996 + which


def above(folder: Path, name: str) -> Layer:
    if not name:
        return Layer(folder, "object", usual=f"store={folder}/store;")
    below = f"under_vol=7218;under_info={{store={folder}/store;under_vol=0;under_info={{}}}}"
    return Layer(folder, name, below=below)


@pytest.mark.parametrize("name", ["", *ABOVE])
def test_several_libraries(tmp_path: Path, name: str) -> None:
    above(tmp_path, name).python(by_three_libraries)


@pytest.mark.parametrize("name", ["", *ABOVE])
def test_children(tmp_path: Path, name: str) -> None:
    above(tmp_path, name).python(by_children)
