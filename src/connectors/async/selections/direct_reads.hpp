// Contiguous data of files that nobody writes to, read from where it lies: HDF5's sieve buffer
// reads 64 KiB for each block of random ones.
#pragma once

#include "vol/object.hpp"

namespace headrace::async {

// Reads one run of bytes that is one in memory, too, by our driver. False when HDF5 must read it,
// be it to find the error.
bool read_directly(vol::Object& object, hid_t mem_type, hid_t mem_space, hid_t file_space,
                   hid_t dxpl, void* buffer);

}  // namespace headrace::async
