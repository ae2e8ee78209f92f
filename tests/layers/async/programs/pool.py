"""Reads and writes in processes of multiprocessing, which import this file: pool.py START."""

from __future__ import annotations

import multiprocessing
import sys

import h5py
import numpy as np


def read(i: int) -> int:
    with h5py.File("x.h5") as g:
        own = int(g["d"][i].sum())
    with h5py.File(f"child{i}.h5", "w") as h:
        h["n"] = np.full(100_000, i)
    return own


if __name__ == "__main__":
    context = multiprocessing.get_context(sys.argv[1])
    rows = np.arange(4_000_000).reshape(4, -1)
    keep = h5py.File("other.h5", "w")
    keep["k"] = np.arange(1_000_000)
    with h5py.File("x.h5", "w") as f:
        f["d"] = rows
    with context.Pool(2) as pool:
        sums = pool.map(read, range(4))
    assert sums == [int(row.sum()) for row in rows], sums
    keep["k"][7] = 70
    keep["l"] = 5
    keep.close()
