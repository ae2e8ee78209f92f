// What a program's data transfer property list says, and is told, over MPI.
#pragma once

#include "hdf5/api.hpp"

namespace headrace::vol {

// Whether nobody has set anything in it.
bool is_default(hid_t dxpl);
// Whether it is of calls that all ranks make together.
bool collective(hid_t dxpl);
// Tells the program in its own list what HDF5 does after a transfer that no other rank took part
// in.
void tell_independent(hid_t dxpl);

}  // namespace headrace::vol
