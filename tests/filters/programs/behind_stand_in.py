"""Writes or reads chunks behind a library of HDF5's names, and tells how often that was called.

The library must be there before h5py is imported: behind_stand_in.py LIBRARY write|read.
"""

from __future__ import annotations

import ctypes
import sys

library = ctypes.CDLL(sys.argv[1], ctypes.RTLD_GLOBAL)

import h5py  # noqa: E402
import hdf5plugin  # noqa: E402
import numpy as np  # noqa: E402

if sys.argv[2] == "write":
    with h5py.File("x.h5", "w") as f:
        data = np.arange(64000)
        f.create_dataset("d", data=data, chunks=(1000,), compression=hdf5plugin.Blosc())
else:
    with h5py.File("x.h5") as f:
        try:
            f["d"][...]
        except OSError:
            print("not read")
print(*(ctypes.c_int.in_dll(library, name).value for name in ("calls", "from_workers")))
