"""A classic mistake: the rows of compressed chunks one by one. HDF5 decodes a chunk for each."""

import h5py
import numpy as np

with h5py.File("field.h5", "w") as file:
    values = np.add.outer(np.arange(1024.0), np.arange(2048.0))
    file.create_dataset("field", data=values, chunks=(1024, 2048), compression="gzip", shuffle=True)

with h5py.File("field.h5") as file:
    field = file["field"]
    means = [field[row].mean() for row in range(30)]
np.save("means.npy", means)
