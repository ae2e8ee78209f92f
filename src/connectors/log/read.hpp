// Reads of files that are not all in HDF5's datasets: the rest is in the log of an earlier program.
#pragma once

#include <cstddef>
#include <span>

#include "hdf5/api.hpp"

namespace headrace::log_layout {

// Whether one of the datasets is in such a file.
bool reads_stored(std::span<void*> datasets);

// The arguments of H5Dread_multi. Throws Error for what can only be read when the log has been
// replayed.
herr_t read_stored(std::size_t count, void* dset[], hid_t mem_type[], hid_t mem_space[],
                   hid_t file_space[], hid_t dxpl, void* buf[]);

}  // namespace headrace::log_layout
