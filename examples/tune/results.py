"""A thousand small results, each a dataset with its attributes."""

import h5py
import numpy as np

with h5py.File("results.h5", "w") as file:
    for run in range(1000):
        one = file.create_dataset(f"run{run:04}/curve", data=np.arange(50.0) * run)
        one.attrs["seed"] = run
        one.attrs["units"] = "K"
