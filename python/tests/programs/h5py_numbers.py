"""Writes and reads FILE with h5py."""

import sys

import h5py

with h5py.File(sys.argv[1], "w") as f:
    f["numbers"] = range(1000)
with h5py.File(sys.argv[1], "r") as f:
    print(f["numbers"][999])  # noqa: T201
