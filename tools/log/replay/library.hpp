// A libhdf5 that is loaded by its path: this program is linked with none.
#pragma once

#include <string>

namespace headrace::replay {

// Opens a file for writing under the log layer, which puts its log in order, and closes it. Once.
// Throws Error with what HDF5 says.
void open_and_close(const std::string& library, const std::string& file, const std::string& sync);

}  // namespace headrace::replay
