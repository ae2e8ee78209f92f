"""The MPI of a parallel libhdf5, for the ranks of a replay."""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from headrace.trace.replay.hdf5.library import Library

# MPICH's handles are numbers (its mpi.h).
_MPICH: Final = {"world": 0x44000000, "self": 0x44000001, "no_info": 0x1C000000}
_OPEN_MPI: Final = {
    "world": "ompi_mpi_comm_world", "self": "ompi_mpi_comm_self", "no_info": "ompi_mpi_info_null",
}  # fmt: skip


class Mpi:
    """Initialised once in a process, and finalised by `end`."""

    def __init__(self, library: Library, recorded: int) -> None:
        """Of the MPI that the library, which was loaded for ranks, is linked with.

        `recorded`: how many ranks the program had.
        """
        self._library = library
        self.recorded = recorded
        library.function("MPI_Init")(None, None)
        rank = ctypes.c_int()
        library.function("MPI_Comm_rank")(self._handle("world"), ctypes.byref(rank))
        self.rank = rank.value
        self._lists: dict[tuple[int, bool], int] = {}

    def _handle(self, name: str) -> Any:
        if self._library.has("ompi_mpi_comm_world"):  # Open MPI's handles are addresses
            return ctypes.c_void_p(self._library.address(_OPEN_MPI[name]))
        return ctypes.c_int(_MPICH[name])

    def access(self, list_: int, *, alone: bool) -> int:
        """A file access list with a communicator of this rank alone, or of all.

        An encoded list has no communicator. It is the caller's list else, or HDF5's default (0).
        """
        if (list_, alone) not in self._lists:
            call = self._library.call
            made = (
                call("H5Pcopy", list_)
                if list_
                else call("H5Pcreate", self._library.variable("H5P_CLS_FILE_ACCESS_ID_g"))
            )
            of = self._handle("self" if alone else "world")
            call("H5Pset_fapl_mpio", made, of, self._handle("no_info"))
            self._lists[list_, alone] = made
        return self._lists[list_, alone]

    def abort(self) -> None:
        """Ends all ranks: the others may be waiting for this one."""
        self._library.function("MPI_Abort")(self._handle("world"), 1)

    def end(self) -> None:
        """HDF5 ends, which holds communicators, and then MPI."""
        self._library.call("H5close")
        self._library.function("MPI_Finalize")()
