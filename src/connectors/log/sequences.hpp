// Selections as rows of elements.
#pragma once

#include <optional>
#include <vector>

#include "engine/log/pattern.hpp"
#include "hdf5/api.hpp"

namespace headrace::log_layout {

// What a dataspace selects, in the order in which HDF5 transfers it, in elements of its extent.
// None when HDF5 does not tell, when the selection is not within the extent, or in more than `most`
// rows.
std::optional<std::vector<engine::Run>> sequences_of(hid_t space, std::size_t most);

}  // namespace headrace::log_layout
