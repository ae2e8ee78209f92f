"""A rank of a parallel program: python overlapping.py LIBRARY openmpi|mpich.

Ranks write two rows of ten integers each, of which the second one is the first one of the next
rank; and then their first row once more.
"""

from __future__ import annotations

import ctypes
import os
import sys
from ctypes import c_int64, c_uint64

from layers.fault.collective import Hdf5, Mpi

COLUMNS = 10


def main(path: str, kind: str) -> None:
    mpi = Mpi(kind)
    hdf5 = Hdf5(path, mpi)
    call, zero = hdf5.call, c_int64(0)
    size = ctypes.c_int()
    mpi.library.MPI_Comm_size(mpi.world, ctypes.byref(size))
    fapl = call("H5Pcreate", hdf5.variable("H5P_CLS_FILE_ACCESS_ID"))
    call("H5Pset_fapl_mpio", fapl, mpi.world, mpi.no_info)
    file = call("H5Fcreate", b"x.h5", ctypes.c_uint(2), zero, fapl)
    extent = (c_uint64 * 2)(size.value + 1, COLUMNS)
    space = call("H5Screate_simple", ctypes.c_int(2), extent, None)
    number = hdf5.variable("H5T_NATIVE_INT")
    data = call("H5Dcreate2", file, b"a", number, space, zero, zero, zero)
    for rows in (2, 1):
        count = (c_uint64 * 2)(rows, COLUMNS)
        memory = call("H5Screate_simple", ctypes.c_int(2), count, None)
        begin = (c_uint64 * 2)(mpi.rank, 0)
        call("H5Sselect_hyperslab", space, ctypes.c_int(0), begin, None, count, None)
        values = (ctypes.c_int * (rows * COLUMNS))(*[7] * (rows * COLUMNS))
        call("H5Dwrite", data, number, memory, space, zero, values)
    call("H5Dclose", data)
    call("H5Fclose", file)
    mpi.library.MPI_Finalize()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
    os._exit(0)
