// The connector that the callbacks of containers are linked into. Each plug-in that is made of them
// defines what is declared here.
#pragma once

#include "hdf5/api.hpp"

namespace headrace::object {

// As HDF5 knows it.
extern const char* const kConnectorName;
const H5VL_class_t& own_class();

// What its file_open() has returned last, which sets it, while HDF5 opens a file for it.
inline thread_local void* last_opened = nullptr;

}  // namespace headrace::object
