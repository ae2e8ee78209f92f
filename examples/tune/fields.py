"""A model's output by netCDF, field by field, as most of them write it."""

import netCDF4
import numpy as np

with netCDF4.Dataset("model.nc", "w") as file:
    for name, length in (("time", 12), ("lat", 360), ("lon", 720)):
        file.createDimension(name, length)
    for name in ("t2m", "u10", "v10", "sst"):
        field = file.createVariable(name, "f4", ("time", "lat", "lon"))
        for month in range(12):
            field[month] = np.full((360, 720), month, "f4")
