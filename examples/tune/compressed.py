"""Simulated snapshots, compressed while the program goes on computing."""

import h5py
import numpy as np

rng = np.random.default_rng(7)
state = rng.normal(0, 1, (16, 128, 512)).astype("f4").round(2)
with h5py.File("snapshots.h5", "w") as file:
    shape = (16, *state.shape)
    out = file.create_dataset("rho", shape, "f4", chunks=(1, 4, 128, 512), compression=6)
    for step in range(shape[0]):
        state = np.roll(state, 1, axis=2) * np.float32(1.01)
        out[step] = state
