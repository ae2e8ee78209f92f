"""The samples that are read, and their copies for peers."""

from __future__ import annotations

import zlib
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import zarr

SHAPE = (224, 224, 3)
FILE, ZARR, COPIED, SUMS = "samples.h5", "samples.zarr", "samples.raw", "sums.npy"


def make_sizes(folder: Path, count: int) -> None:
    """Datasets of 2, 4, 8 ... MiB: bytes in gzip chunks of 64 KiB."""
    block = np.random.default_rng(7).integers(0, 40, 1 << 20, np.uint8)
    with h5py.File(folder / FILE, "w") as file:
        for power in range(1, count + 1):
            how = {"chunks": (1 << 16,), "compression": "gzip", "compression_opts": 1}
            dataset = file.create_dataset(str(power), (len(block) << power,), np.uint8, **how)
            for first in range(0, len(dataset), len(block)):
                dataset[first : first + len(block)] = np.roll(block, first >> 20)


def make(folder: Path, samples: int, chunk: int) -> None:
    """Natively, all of them with the same chunks and filter."""
    rng = np.random.default_rng(7)
    data = rng.integers(0, 40, (samples, *SHAPE), np.uint8)
    chunks = (chunk, *SHAPE)
    with h5py.File(folder / FILE, "w") as file:
        file.create_dataset("x", data=data, chunks=chunks, compression="gzip")
    compressor: Any = {"id": "zlib", "level": 4}  # as zarr-python 2 has it
    copy = zarr.create_array(
        str(folder / ZARR), shape=data.shape, chunks=chunks, dtype=data.dtype, zarr_format=2,
        compressors=compressor,
    )  # fmt: skip
    copy[...] = data
    data.tofile(folder / COPIED)
    np.save(folder / SUMS, [zlib.crc32(each.tobytes()) for each in data])
