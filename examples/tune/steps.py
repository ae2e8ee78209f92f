"""A year of daily fields, stored for time series, read day by day: each day is in all chunks."""

import sys
from pathlib import Path

import h5py
import numpy as np

path = Path("year.h5")
if not path.exists():
    noise = np.random.default_rng(1).normal(0, 1, (365, 144, 288)).astype("f4").round(1)
    with h5py.File(path, "w") as file:
        chunks = (365, 36, 36)  # 1.9 MB
        file.create_dataset("t2m", data=280 + noise, chunks=chunks, compression=4, shuffle=True)

days = int(sys.argv[1]) if len(sys.argv) > 1 else 30
with h5py.File(path) as file:
    t2m = file["t2m"]
    means = [float(t2m[day].mean()) for day in range(days)]
print(f"warmest of {days} days: {max(means):.3f}")
