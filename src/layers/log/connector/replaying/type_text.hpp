// What the elements of a dataset are, in words (docs/formats/log.md).
#pragma once

#include <string>

#include "hdf5/id.hpp"

namespace headrace::log_layout {

// Equal for types that give the bytes of an element the same meaning, in all versions of HDF5.
std::string describe_type(hid_t type);

}  // namespace headrace::log_layout
