"""A rank of a parallel program.

    python collective.py LIBRARY openmpi|mpich MODE

All ranks make a file with a dataset, each writes and reads its own row, collectively if MODE is 1.
Each call that fails is appended to the file calls.RANK, with the text of its error stack.
"""

from __future__ import annotations

import ctypes
import os
import sys
from ctypes import c_int64, c_uint64
from pathlib import Path

COLUMNS = 10000


class Mpi:
    """What the two MPIs name differently."""

    def __init__(self, kind: str) -> None:
        name = "libmpi.so.40" if kind == "openmpi" else "libmpich.so.12"
        self.library = ctypes.CDLL(name, ctypes.RTLD_GLOBAL)
        self.library.MPI_Init(None, None)
        if kind == "openmpi":
            handle = ctypes.c_char.in_dll
            self.world: object = ctypes.byref(handle(self.library, "ompi_mpi_comm_world"))
            self.no_info: object = ctypes.byref(handle(self.library, "ompi_mpi_info_null"))
        else:
            self.world, self.no_info = ctypes.c_int(0x44000000), ctypes.c_int(0x1C000000)
        rank = ctypes.c_int()
        self.library.MPI_Comm_rank(self.world, ctypes.byref(rank))
        self.rank = rank.value


class Hdf5:
    """Calls by name; a failed one is written down and the program goes on."""

    def __init__(self, path: str, mpi: Mpi) -> None:
        self.library = ctypes.CDLL(path)
        self.failed = Path(f"calls.{mpi.rank}")
        self.library.H5open()
        self.library.H5Eset_auto2(c_int64(0), None, None)

    def variable(self, name: str) -> c_int64:
        return c_int64(c_int64.in_dll(self.library, f"{name}_g").value)

    def call(self, name: str, *arguments: object) -> c_int64:
        function = self.library[name]  # not getattr: that keeps the type of the result
        makes_id = name[:9] in {f"H5{kind}create" for kind in "ADFPS"}
        function.restype = c_int64 if makes_id else ctypes.c_int
        result = function(*arguments)
        if result < 0:
            with self.failed.open("a") as out:
                out.write(f"{name}\n")
                out.flush()
                libc = ctypes.CDLL(None)
                libc.fdopen.restype = ctypes.c_void_p
                stream = ctypes.c_void_p(libc.fdopen(os.dup(out.fileno()), b"a"))
                self.library.H5Eprint2(c_int64(0), stream)
                libc.fclose(stream)
        return c_int64(result)


def main(path: str, kind: str, mode: int) -> None:
    mpi = Mpi(kind)
    hdf5 = Hdf5(path, mpi)
    call = hdf5.call
    fapl = call("H5Pcreate", hdf5.variable("H5P_CLS_FILE_ACCESS_ID"))
    call("H5Pset_fapl_mpio", fapl, mpi.world, mpi.no_info)
    transfer = call("H5Pcreate", hdf5.variable("H5P_CLS_DATASET_XFER_ID"))
    call("H5Pset_dxpl_mpio", transfer, ctypes.c_int(mode))
    no_times = []
    for kind_of_list in ("FILE", "DATASET"):
        no_times.append(call("H5Pcreate", hdf5.variable(f"H5P_CLS_{kind_of_list}_CREATE_ID")))
        call("H5Pset_obj_track_times", no_times[-1], ctypes.c_bool(False))
    file = call("H5Fcreate", b"x.h5", ctypes.c_uint(2), no_times[0], fapl)
    if file.value >= 0:
        rows = (c_uint64 * 2)(2, COLUMNS)
        row = (c_uint64 * 2)(1, COLUMNS)
        in_file = call("H5Screate_simple", ctypes.c_int(2), rows, None)
        in_memory = call("H5Screate_simple", ctypes.c_int(2), row, None)
        begin = (c_uint64 * 2)(mpi.rank, 0)
        call("H5Sselect_hyperslab", in_file, ctypes.c_int(0), begin, None, row, None)
        number = hdf5.variable("H5T_NATIVE_LLONG")
        zero = c_int64(0)
        data = call("H5Dcreate2", file, b"a", number, in_file, zero, no_times[1], zero)
        values = (c_int64 * COLUMNS)(*[mpi.rank + 1] * COLUMNS)
        call("H5Dwrite", data, number, in_memory, in_file, transfer, values)
        call("H5Fflush", file, ctypes.c_int(1))
        call("H5Dread", data, number, in_memory, in_file, transfer, values)
        call("H5Dclose", data)
        call("H5Fclose", file)
    mpi.library.MPI_Finalize()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
    # What HDF5 could not close it would try to close again after MPI has ended.
    os._exit(0)
