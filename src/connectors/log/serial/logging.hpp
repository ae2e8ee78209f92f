// Which writes of files of one process go to their log, and what becomes of those that do not.
#pragma once

#include <cstddef>

#include "hdf5/api.hpp"

namespace headrace::log_layout {

// The arguments of H5Dwrite_multi; returns whether all of its data is in the log now. Else nothing
// is, and HDF5 must do it, or tell what is wrong.
bool log_writes(std::size_t count, void* dset[], hid_t mem_type[], hid_t mem_space[],
                hid_t file_space[], hid_t dxpl, const void* buf[]);

}  // namespace headrace::log_layout
