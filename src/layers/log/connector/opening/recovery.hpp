// What is done beside the log for a file that a crash may leave, or has left.
#pragma once

#include "hdf5/id.hpp"

namespace headrace::log_layout {

// The list that a file is opened with for recovery; none where the program's own will do. HDF5 says
// of a file in a late format whose writer has crashed that it is open for writing, and opens it
// with a property of h5clear's only.
Id<Kind::plist> recovery_access(const char* name, hid_t fapl);

}  // namespace headrace::log_layout
