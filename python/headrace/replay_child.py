"""Run as a script in a process of its own, under the log layer: opens a file as a writer does."""

import contextlib
import importlib
import sys

import h5py


def main() -> None:
    """The file is the first argument; an error is the last line of standard error."""
    with contextlib.suppress(ImportError):
        importlib.import_module("hdf5plugin")  # registers filters
    try:
        # HDF5 writes to a file that a writer opens, be it refused by the layer or not.
        for mode in ("r", "r+"):
            h5py.File(sys.argv[1], mode).close()
    except OSError as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
