"""Zarr 3 by zarr-python, in a local folder."""

from pathlib import Path
from typing import Any

import numpy as np
import zarr
from zarr.codecs import GzipCodec

from headrace.bench.peers.workload import Block, Shape, gzip_level


class Store:
    """One array, a file for each chunk."""

    hdf5 = ""

    def __init__(self, path: Path, shape: Shape, variant: str) -> None:
        """See workload.Store."""
        self._path, self._shape, self._variant = path, shape, variant
        self._data: Any = None

    @property
    def version(self) -> str:
        """Of zarr-python."""
        return str(zarr.__version__)

    def create(self) -> None:
        """See workload.Store."""
        compressor = GzipCodec(level=gzip_level) if self._variant == "gzip" else None
        self._data = zarr.create_array(
            store=str(self._path),
            shape=self._shape.whole,
            chunks=self._shape.chunk,
            dtype=np.float64,
            compressors=compressor,
            zarr_format=3,
        )

    def write(self, step: int, block: Block) -> None:
        """See workload.Store."""
        self._data[step] = block

    def flush(self) -> None:
        """Nothing is held back."""

    def close(self) -> None:
        """See workload.Store."""
        self._data = None

    def open(self) -> None:
        """See workload.Store."""
        self._data = zarr.open_array(store=str(self._path), mode="r")

    def read(self, step: int, block: Block) -> None:
        """See workload.Store."""
        block[...] = self._data[step]

    def close_read(self) -> None:
        """See workload.Store."""
        self._data = None
