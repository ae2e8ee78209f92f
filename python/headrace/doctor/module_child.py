"""Run as a script in a process of its own: imports h5py or netCDF4 and tells about its libhdf5.

``facts MODULE`` prints what was imported; ``write MODULE FILE`` writes and reads a file as well.
"""

import ctypes
import importlib
import json
import sys
from pathlib import Path
from typing import Any

from headrace._inspect import hdf5
from headrace.libraries import loaded_hdf5

_NUMBERS = list(range(100))


def facts(name: str) -> dict[str, Any]:
    """The module and the copies of libhdf5 that came with it."""
    module = importlib.import_module(name)
    copies = [
        {"path": str(library.file), "initialised": library.initialised, **hdf5(str(library.file))}
        for library in loaded_hdf5()
    ]
    return {"version": str(module.__version__), "file": str(module.__file__), "copies": copies}


def write(name: str, file: str) -> dict[str, Any]:
    """Writes a dataset, reads it back and compares."""
    return {"h5py": _write_h5py, "netCDF4": _write_netcdf4}[name](file)


def _write_h5py(file: str) -> dict[str, Any]:
    import h5py  # noqa: PLC0415, only one of the two modules may be imported

    with h5py.File(file, "w") as written:
        written["numbers"] = _NUMBERS
    with h5py.File(file, "r") as read:
        equal = list(read["numbers"][()]) == _NUMBERS
        return {"equal": equal, "connector": _connector(int(read.id.id))}


def _connector(file_id: int) -> str | None:
    """The connector that HDF5 itself names for an open file."""
    name = ctypes.create_string_buffer(256)
    for copy in loaded_hdf5():
        function = ctypes.CDLL(str(copy.file)).H5VLget_connector_name
        function.argtypes = (ctypes.c_int64, ctypes.c_char_p, ctypes.c_size_t)
        function.restype = ctypes.c_ssize_t
        if function(file_id, name, len(name)) > 0:
            return name.value.decode()
    return None


def _write_netcdf4(file: str) -> dict[str, Any]:
    import netCDF4  # noqa: PLC0415

    with netCDF4.Dataset(file, "w") as written:
        written.createDimension("x", len(_NUMBERS))
        written.createVariable("numbers", "i4", ("x",))[:] = _NUMBERS
    with netCDF4.Dataset(file, "r") as read:
        return {"equal": list(read["numbers"][:]) == _NUMBERS, "connector": None}


def main(arguments: list[str]) -> None:
    """Prints one line of JSON."""
    action, module, *rest = arguments
    result = facts(module) if action == "facts" else write(module, str(Path(rest[0])))
    sys.stdout.write(json.dumps(result) + "\n")


if __name__ == "__main__":
    main(sys.argv[1:])
