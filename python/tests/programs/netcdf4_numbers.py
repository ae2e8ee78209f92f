"""Writes and reads FILE with netCDF4."""

import sys

import netCDF4

with netCDF4.Dataset(sys.argv[1], "w") as f:
    f.createDimension("x", 1000)
    f.createVariable("numbers", "i4", ("x",), compression="zstd")[:] = range(1000)
with netCDF4.Dataset(sys.argv[1], "r") as f:
    print(int(f["numbers"][999]))  # noqa: T201
