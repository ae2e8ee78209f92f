"""HDF5 through h5py: contiguous, chunked, gzip, and with a filter of hdf5plugin."""

from pathlib import Path
from typing import Any

import h5py
import numpy as np

from headrace.bench.peers.workload import Block, Shape, gzip_level

_NAME = "data"


class Store:
    """One dataset of one file."""

    hdf5 = str(h5py.version.hdf5_version)

    def __init__(self, path: Path, shape: Shape, variant: str) -> None:
        """See workload.Store."""
        self._path, self._shape, self._variant = path, shape, variant
        self._file: Any = None
        self._data: Any = None
        self._layout = self._layout_options()

    @property
    def version(self) -> str:
        """Of h5py."""
        return str(h5py.__version__)

    def _layout_options(self) -> dict[str, Any]:
        chunked = {"chunks": self._shape.chunk}
        if self._variant == "contiguous":
            return {}
        if self._variant == "chunked":
            return chunked
        if self._variant == "gzip":
            return chunked | {"compression": "gzip", "compression_opts": gzip_level}
        import hdf5plugin  # noqa: PLC0415, only this variant needs it

        filters = hdf5plugin.Blosc2(cname="zstd", clevel=5, filters=hdf5plugin.Blosc2.SHUFFLE)
        return chunked | dict(filters)

    def create(self) -> None:
        """See workload.Store."""
        self._file = h5py.File(self._path, "w")
        self._data = self._file.create_dataset(
            _NAME, self._shape.whole, dtype=np.float64, **self._layout
        )

    def write(self, step: int, block: Block) -> None:
        """See workload.Store."""
        self._data[step] = block

    def flush(self) -> None:
        """See workload.Store."""
        self._file.flush()

    def close(self) -> None:
        """See workload.Store."""
        self._file.close()

    def open(self) -> None:
        """See workload.Store."""
        self._file = h5py.File(self._path, "r")
        self._data = self._file[_NAME]

    def read(self, step: int, block: Block) -> None:
        """See workload.Store."""
        self._data.read_direct(block, np.s_[step])

    def close_read(self) -> None:
        """See workload.Store."""
        self._file.close()
