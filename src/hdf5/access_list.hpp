// File access property lists.
#pragma once

#include "hdf5/api.hpp"
#include "hdf5/id.hpp"

namespace headrace {

// Whether the list's driver is one over MPI, such as mpio, or one of ours over it.
bool is_over_mpi(hid_t fapl);

// A copy. HDF5 duplicates the list's communicator with it, which all its ranks must do together:
// they do where they open a file together. A list that has a communicator still, but another
// driver by now, may be one rank's, so its copy has none. Throws Error.
Id<Kind::plist> copy_access_list(hid_t fapl);

}  // namespace headrace
