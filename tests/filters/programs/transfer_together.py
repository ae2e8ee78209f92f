"""Reads and writes datasets that HDF5 refuses in one call, and tells how it went."""

from __future__ import annotations

import h5py
import numpy as np
from random_programs.prelude import together

with h5py.File("x.h5", "w") as f:
    d = f.create_dataset("d", data=np.arange(100), chunks=(10,), compression=1)
    layout = h5py.VirtualLayout((100,), "i8")
    layout[:] = h5py.VirtualSource(d)
    v = f.create_virtual_dataset("v", layout)
    for name in ("H5Dread_multi", "H5Dwrite_multi"):
        e = f.create_dataset(name, data=np.arange(100))
        another = h5py.File(name, "w").create_dataset("e", data=np.arange(100))
        for datasets in ([d, v], [d, e], [d, another], [another, d]):
            try:
                together(name, datasets, [np.arange(100), np.arange(100)])
                print("done")
            except OSError:
                print("refused")
