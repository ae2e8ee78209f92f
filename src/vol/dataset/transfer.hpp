// The size of a dataset read or write in memory. Datasets are given as an Object of ours.
#pragma once

#include <cstdint>
#include <optional>

#include "engine/runs.hpp"
#include "hdf5/api.hpp"

namespace headrace::vol {

// The bytes of memory that one dataset of a dataset_read or dataset_write reaches: elements
// selected times the size of the memory type, so variable-length data count as their descriptors.
// Where the selection is in the transfer property list (H5S_PLIST) alone, all of the dataset is
// assumed. 0 when the connector below does not tell.
std::uint64_t transfer_bytes(void* dataset, hid_t mem_type, hid_t mem_space, hid_t file_space);

// What a call does to the program's buffer in terms of its elements, for calls that HDF5 accepts.
// The elements from the first to the last that a regular selection reaches; none of others, and
// where the selection is in the transfer property list.
std::optional<engine::Run> regular_memory_bounds(void* dataset, hid_t mem_space, hid_t file_space);
// How many elements from the buffer's begin on have all that the call reaches in them; 0 when that
// cannot be told.
std::uint64_t memory_extent(void* dataset, hid_t mem_space, hid_t file_space);

}  // namespace headrace::vol
