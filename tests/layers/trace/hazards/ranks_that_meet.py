"""A rank of a parallel program: python ranks_that_meet.py LIBRARY openmpi|mpich DOES BETWEEN MODE.

Ranks have a dataset of 40 rows of 8 integers. All first do half of DOES, wait for each other in the
way of BETWEEN and do the other half; MODE 1: by collective transfers.
"""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Callable
from ctypes import c_int64, c_uint64

from layers.fault.collective import Hdf5, Mpi

ROWS, COLUMNS, PART = 40, 8, 4


class Rank:
    def __init__(self, path: str, kind: str, mode: int) -> None:
        self.mpi = Mpi(kind)
        self.hdf5 = Hdf5(path, self.mpi)
        call = self.hdf5.call
        zero = c_int64(0)
        size = ctypes.c_int()
        self.mpi.library.MPI_Comm_size(self.mpi.world, ctypes.byref(size))
        self.size = size.value
        self.fapl = call("H5Pcreate", self.hdf5.variable("H5P_CLS_FILE_ACCESS_ID"))
        call("H5Pset_fapl_mpio", self.fapl, self.mpi.world, self.mpi.no_info)
        self.dxpl = call("H5Pcreate", self.hdf5.variable("H5P_CLS_DATASET_XFER_ID"))
        call("H5Pset_dxpl_mpio", self.dxpl, ctypes.c_int(mode))
        self.file = call("H5Fcreate", b"x.h5", ctypes.c_uint(2), zero, self.fapl)
        self.extent = (c_uint64 * 2)(ROWS, COLUMNS)
        self.space = call("H5Screate_simple", ctypes.c_int(2), self.extent, None)
        self.number = self.hdf5.variable("H5T_NATIVE_INT")
        made = (self.file, b"a", self.number, self.space, zero, zero, zero)
        self.data = call("H5Dcreate2", *made)

    def moves(self, name: str, first: int, step: int = 1) -> None:
        """H5Dread or H5Dwrite of PART rows from `first` on."""
        call = self.hdf5.call
        begin, stride = (c_uint64 * 2)(first, 0), (c_uint64 * 2)(step, 1)
        count = (c_uint64 * 2)(PART, COLUMNS)
        call("H5Sselect_hyperslab", self.space, ctypes.c_int(0), begin, stride, count, None)
        memory = call("H5Screate_simple", ctypes.c_int(2), count, None)
        values = (ctypes.c_int * (PART * COLUMNS))(*[self.mpi.rank] * (PART * COLUMNS))
        call(name, self.data, self.number, memory, self.space, self.dxpl, values)

    def writes_all(self, first: int) -> None:
        """An attribute with the others, as HDF5 wants it, and rows."""
        call, zero = self.hdf5.call, c_int64(0)
        space = call("H5Screate", ctypes.c_int(0))
        made = call("H5Acreate2", self.data, b"unit", self.number, space, zero, zero)
        call("H5Awrite", made, self.number, ctypes.byref(ctypes.c_int(1)))
        call("H5Aclose", made)
        self.moves("H5Dwrite", first)

    def deletes(self) -> None:
        self.hdf5.call("H5Ldelete", self.file, b"a", c_int64(0))

    def waits(self, between: str) -> None:
        call = self.hdf5.call
        if between == "flush":
            call("H5Fflush", self.file, ctypes.c_int(1))
        elif between == "close":
            call("H5Dclose", self.data)
            call("H5Fclose", self.file)
        self.mpi.library.MPI_Barrier(self.mpi.world)
        if between == "close":
            zero = c_int64(0)
            self.hdf5.library.H5Fopen.restype = c_int64
            self.hdf5.library.H5Dopen2.restype = c_int64
            self.file = c_int64(self.hdf5.library.H5Fopen(b"x.h5", ctypes.c_uint(1), self.fapl))
            self.data = c_int64(self.hdf5.library.H5Dopen2(self.file, b"a", zero))

    def run(self, does: str, between: str) -> None:
        own, next_ = self.mpi.rank * PART, (self.mpi.rank + 1) % self.size * PART
        read, write = "H5Dread", "H5Dwrite"
        halves: dict[str, tuple[Callable[[], None], Callable[[], None]]] = {
            "raw": (lambda: self.moves(write, own), lambda: self.moves(read, next_)),
            "war": (lambda: self.moves(read, own), lambda: self.moves(write, next_)),
            "waw": (lambda: self.moves(write, own), lambda: self.moves(write, next_)),
            "touching": (lambda: self.moves(write, own), lambda: self.moves(read, own)),
            "deleted": (lambda: self.writes_all(own), self.deletes),
            "interleaved": (
                lambda: self.moves(write, self.mpi.rank, self.size),
                lambda: self.moves(read, self.mpi.rank, self.size),
            ),
        }
        first, second = halves[does]
        first()
        self.waits(between)
        second()
        self.hdf5.call("H5Dclose", self.data)
        self.hdf5.call("H5Fclose", self.file)
        self.mpi.library.MPI_Finalize()


if __name__ == "__main__":
    Rank(sys.argv[1], sys.argv[2], int(sys.argv[5])).run(sys.argv[3], sys.argv[4])
    os._exit(0)
