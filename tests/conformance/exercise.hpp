// A program that touches as much of HDF5's interface as one connector can see.
#pragma once

#include <hdf5.h>

#include <string>

namespace headrace::test {

// Runs every step on a new file `path` through `fapl`, whatever the steps before it did, and closes
// all it opened. Returns the number of HDF5 calls that failed; 0 on a connector that works.
int exercise(const std::string& path, hid_t fapl);

}  // namespace headrace::test
