// Finds and loads the MPI module that fits the MPI of the bound libhdf5.
#pragma once

#include "comm/mpi_table.hpp"

namespace headrace {

// Loaded on the first call, for good: libheadrace_mpi_openmpi.so or libheadrace_mpi_mpich.so, from
// this module's folder or the one above it. Throws Error that names the file when it is missing,
// cannot be loaded, or is of another version or MPI. Local: no other rank takes part.
const MpiTable& mpi_module();

}  // namespace headrace
