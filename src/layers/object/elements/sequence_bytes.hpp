// What elements in memory lead to.
#pragma once

#include <cstdint>

#include "hdf5/id.hpp"

namespace headrace::object {

// Bytes of the strings and sequences of variable length that an element of that type leads to, as
// HDF5 has allocated them.
std::uint64_t sequence_bytes(hid_t type, const void* element);

}  // namespace headrace::object
