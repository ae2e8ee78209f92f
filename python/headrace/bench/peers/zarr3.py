"""Zarr 3 by tensorstore, in a local folder."""

import importlib.metadata
from pathlib import Path
from typing import Any

import tensorstore

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
        """Of tensorstore."""
        return importlib.metadata.version("tensorstore")

    def _spec(self) -> dict[str, Any]:
        # No peer waits for the disk unless all are asked to (--sync).
        kvstore = {"driver": "file", "path": f"{self._path}/", "file_io_sync": False}
        return {"driver": "zarr3", "kvstore": kvstore}

    def create(self) -> None:
        """See workload.Store."""
        codecs: list[dict[str, Any]] = [{"name": "bytes", "configuration": {"endian": "little"}}]
        if self._variant == "gzip":
            codecs.append({"name": "gzip", "configuration": {"level": gzip_level}})
        grid = {"chunk_shape": list(self._shape.chunk)}
        metadata = {
            "shape": list(self._shape.whole),
            "data_type": "float64",
            "chunk_grid": {"name": "regular", "configuration": grid},
            "codecs": codecs,
        }
        spec = self._spec() | {"metadata": metadata}
        self._data = tensorstore.open(spec, create=True).result()

    def write(self, step: int, block: Block) -> None:
        """See workload.Store."""
        self._data[step].write(block).result()

    def flush(self) -> None:
        """Nothing is held back."""

    def close(self) -> None:
        """See workload.Store."""
        self._data = None

    def open(self) -> None:
        """See workload.Store."""
        self._data = tensorstore.open(self._spec(), read=True).result()

    def read(self, step: int, block: Block) -> None:
        """See workload.Store."""
        block[...] = self._data[step].read().result()

    def close_read(self) -> None:
        """See workload.Store."""
        self._data = None
