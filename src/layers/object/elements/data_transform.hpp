// The expression that a transfer list has for elements in memory (H5Pset_data_transform).
//
// The program's thread only; throws Error.
#pragma once

#include <cstdint>

#include "engine/buffer.hpp"
#include "hdf5/id.hpp"

namespace headrace::object {

bool has_data_transform(hid_t dxpl);
// Evaluated in place. HDF5 does that for datasets only: for one in a native file in memory.
void transform_data(hid_t dxpl, hid_t type, std::uint64_t count, engine::Buffer& elements);

}  // namespace headrace::object
