// Contiguous data of files that nobody writes to, read from where it lies: HDF5's sieve buffer
// reads 64 KiB for each block of random ones.
#pragma once

#include "layers/async/connector/dataset.hpp"

namespace headrace::async {

// Reads one run of bytes that is one in memory, too, by our driver. False when HDF5 must read it,
// be it to find the error.
bool read_directly(const vol::Object& object, Elements& elements, const Transfer& transfer,
                   void* buffer);

}  // namespace headrace::async
