"""Makes H5FD calls on files, one after the other.

    python raw_calls.py LIBRARY CALLS

CALLS is JSON, a list of [name, file, argument...]; the files are numbered as they are opened.
Prints how many calls there were before the first that failed, and prints the error stack.
"""

from __future__ import annotations

import ctypes
import json
import sys
from typing import Any

RAW = 3
LIMIT = 1 << 20  # an end of allocated space that is past all writes


class Calls:
    def __init__(self, library: str) -> None:
        self.hdf5 = ctypes.CDLL(library)
        self.hdf5.H5open()
        self.hdf5.H5FDopen.restype = ctypes.c_void_p
        self.files: list[ctypes.c_void_p] = []
        self.fapl = self.identifier("H5P_CLS_FILE_ACCESS_ID_g")
        self.transfer = self.identifier("H5P_CLS_DATASET_XFER_ID_g")

    def identifier(self, name: str) -> ctypes.c_int64:
        self.hdf5.H5Pcreate.restype = ctypes.c_int64
        made = self.hdf5.H5Pcreate(ctypes.c_int64.in_dll(self.hdf5, name))
        return ctypes.c_int64(made)

    def open(self, path: str, flags: int) -> int:
        limit = ctypes.c_uint64((1 << 62) - 1)
        file = self.hdf5.H5FDopen(path.encode(), ctypes.c_uint(flags), self.fapl, limit)
        if file is None:
            return -1
        self.files.append(ctypes.c_void_p(file))
        return self.allocate(len(self.files) - 1, LIMIT)

    def allocate(self, file: int, size: int) -> int:
        done: int = self.hdf5.H5FDset_eoa(self.files[file], RAW, ctypes.c_uint64(size))
        return done

    def write(self, file: int, offset: int, data: list[int]) -> int:
        done: int = self.hdf5.H5FDwrite(
            self.files[file],
            RAW,
            self.transfer,
            ctypes.c_uint64(offset),
            ctypes.c_size_t(len(data)),
            bytes(data),
        )
        return done

    def truncate(self, file: int, size: int) -> int:
        self.allocate(file, size)
        done: int = self.hdf5.H5FDtruncate(self.files[file], self.transfer, ctypes.c_bool(False))
        self.allocate(file, LIMIT)
        return done

    def flush(self, file: int, closing: bool) -> int:
        done: int = self.hdf5.H5FDflush(self.files[file], self.transfer, ctypes.c_bool(closing))
        return done

    def try_flush(self, file: int) -> int:
        """A flush that may fail."""
        self.flush(file, False)
        return 0

    def close(self, file: int) -> int:
        done: int = self.hdf5.H5FDclose(self.files[file])
        return done


def main(library: str, calls: list[list[Any]]) -> int:
    run = Calls(library)
    for number, (name, *arguments) in enumerate(calls):
        if getattr(run, name)(*arguments) < 0:
            return number
    return len(calls)


if __name__ == "__main__":
    print(main(sys.argv[1], json.loads(sys.argv[2])))
