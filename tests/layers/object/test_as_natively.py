"""Small things that HDF5 does of its own; random programs have found them missing once."""

from __future__ import annotations

import h5py
import hdf5plugin
import numpy as np
from harness.layer import Layer


def open_again() -> None:
    """All openings in a process may what the first one may."""
    d = h5py.File("x.h5", "w").create_dataset("d", data=[1, 2])
    with h5py.File("x.h5", "r") as f:
        print(f.id.get_intent())
        f["e"] = 1
    print(sorted(d.file))
    d.file.close()
    f = h5py.File("x.h5", "r")
    try:
        h5py.File("x.h5", "r+")
    except OSError as error:
        print("already open for read-only" in str(error))


def look_at_lists() -> None:
    word = h5py.string_dtype()
    with h5py.File("x.h5", "w") as f:
        f.create_dataset("shuffled", (50, 7), "u2", chunks=(9, 7), **hdf5plugin.Bitshuffle())
        f.create_dataset("words", (5,), word, chunks=(2,))
        f.create_dataset("more", (5,), [("n", "i4"), ("w", word)])
        f.create_dataset("numbers", (5,), "i4", chunks=(2,), compression=3)
    with h5py.File("x.h5", "r") as f:
        for name in f:
            made = f[name].id.get_create_plist()
            filters = [made.get_filter(i) for i in range(made.get_nfilters())]
            print(name, made.get_fill_time(), filters)


def read_nothing() -> None:
    d = h5py.File("x.h5", "w").create_dataset("d", (0, 4), "f8")
    for kind in "f4", "S3":
        try:
            d.id.read(h5py.h5s.ALL, h5py.h5s.ALL, np.zeros((0, 4), kind))
            print("reads")
        except OSError as error:
            print("no conversion" if "conver" in str(error) else error)


def test_as_natively(object_layer: Layer) -> None:
    for program in (open_again, look_at_lists, read_nothing):
        there = object_layer.python(program).out.decode().strip()
        (object_layer.folder / "x.h5").unlink()
        assert there == object_layer.plain(program)
        (object_layer.folder / "x.h5").unlink()
