"""Run as a script in a process of its own, under the log layer: opens a file."""

import contextlib
import importlib
import sys

import h5py


def main() -> None:
    """Arguments: the file, and the modes; an error is the last line of standard error."""
    with contextlib.suppress(ImportError):
        importlib.import_module("hdf5plugin")  # registers filters
    try:
        for mode in sys.argv[2:]:
            h5py.File(sys.argv[1], mode).close()
    except OSError as error:
        sys.exit(" ".join(str(error).split()))


if __name__ == "__main__":
    main()
