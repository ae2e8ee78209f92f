"""Puts null below h5py and netCDF4, then tries another stack: enables_for_two.py REPORT FILE."""

import sys

import headrace

headrace.enable("null", report=sys.argv[1])

import h5py  # noqa: E402
import netCDF4  # noqa: E402

headrace.enable("null", report=sys.argv[1])
with h5py.File(sys.argv[2] + ".h5", "w") as f:
    f["a"] = 1
with netCDF4.Dataset(sys.argv[2] + ".nc", "w") as f:
    f.createDimension("x", 1)
try:
    headrace.enable("null(seat=vol)")
except headrace.AlreadyInitialisedError as error:
    print(error)  # noqa: T201
