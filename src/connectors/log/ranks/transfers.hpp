// Reads and writes of datasets in files over MPI that writes are logged of.
#pragma once

#include <cstddef>
#include <span>

#include "connectors/log/ranks/parallel_file.hpp"

namespace headrace::log_layout {

// Whether a dataset of a call is in such a file.
bool any_of_ranks(std::span<void* const> datasets);

// The arguments of H5Dwrite_multi. Throws Error.
herr_t write_over_ranks(std::size_t count, void* dset[], hid_t mem_type[], hid_t mem_space[],
                        hid_t file_space[], hid_t dxpl, const void* buf[]);

// Before datasets are read. Collective where the transfer list says so: logs are drained then.
// Throws Error.
void prepare_read(std::size_t count, void* dset[], hid_t dxpl);

// Throws Error when logs hold something of the dataset that this rank may read, for calls past
// H5Dread and H5Dwrite.
void require_none_logged(vol::Object& dataset);

}  // namespace headrace::log_layout
