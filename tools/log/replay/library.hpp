// A libhdf5 that is loaded by its path: this program is linked with none.
#pragma once

#include <string>

namespace headrace::replay {

struct Hdf5 {
  std::string library;
  std::string plugins;  // the folder of Headrace's
};

// Opens a file for writing under the log layer, which puts its log in order, and closes it. Once.
// Throws Error with what HDF5 says.
void open_and_close(const Hdf5& hdf5, const std::string& file, const std::string& sync);

}  // namespace headrace::replay
