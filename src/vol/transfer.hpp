// The size of a dataset read or write.
#pragma once

#include <cstdint>

#include "hdf5/api.hpp"

namespace headrace::vol {

// The bytes of memory that one dataset (an Object of ours) of a dataset_read or dataset_write
// reaches: elements selected times the size of the memory type, so variable-length data count as
// their descriptors. Where the selection is in the transfer property list (H5S_PLIST) alone, all of
// the dataset is assumed. 0 when the connector below does not tell.
std::uint64_t transfer_bytes(void* dataset, hid_t mem_type, hid_t mem_space, hid_t file_space);

}  // namespace headrace::vol
