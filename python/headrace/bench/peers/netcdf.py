"""netCDF-C through netCDF4-python, in its HDF5 format."""

from pathlib import Path
from typing import Any

import netCDF4

from headrace.bench.peers.workload import Block, Shape, gzip_level

_NAME = "data"
_DIMENSIONS = ("step", "array", "row", "column")


class Store:
    """One variable of one file."""

    hdf5 = str(netCDF4.__hdf5libversion__)

    def __init__(self, path: Path, shape: Shape, variant: str) -> None:
        """See workload.Store."""
        self._path, self._shape, self._variant = path, shape, variant
        self._file: Any = None
        self._data: Any = None

    @property
    def version(self) -> str:
        """Of netCDF-C."""
        return str(netCDF4.__netcdf4libversion__)

    def create(self) -> None:
        """See workload.Store."""
        self._file = netCDF4.Dataset(self._path, "w", format="NETCDF4")
        for name, length in zip(_DIMENSIONS, self._shape.whole, strict=True):
            self._file.createDimension(name, length)
        layout: dict[str, Any] = {"contiguous": True}
        if self._variant == "gzip":
            layout = {
                "compression": "zlib",
                "complevel": gzip_level,
                "shuffle": False,
                "chunksizes": self._shape.chunk,
            }
        # Every element will be written: no fill values beforehand.
        self._data = self._file.createVariable(_NAME, "f8", _DIMENSIONS, fill_value=False, **layout)

    def write(self, step: int, block: Block) -> None:
        """See workload.Store."""
        self._data[step] = block

    def flush(self) -> None:
        """See workload.Store."""
        self._file.sync()

    def close(self) -> None:
        """See workload.Store."""
        self._file.close()

    def open(self) -> None:
        """See workload.Store."""
        self._file = netCDF4.Dataset(self._path, "r")
        self._data = self._file[_NAME]
        # A search for missing values would be timed, and is not what the others do.
        self._data.set_auto_maskandscale(False)

    def read(self, step: int, block: Block) -> None:
        """See workload.Store."""
        block[...] = self._data[step]

    def close_read(self) -> None:
        """See workload.Store."""
        self._file.close()
