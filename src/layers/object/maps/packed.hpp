// Elements of any type as bytes, with what they have of variable length in them.
//
// The program's thread only; throws Error.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "hdf5/api.hpp"

namespace headrace::object {

// Throws Error (unsupported) for a type with references, which lead nowhere elsewhere.
void require_packable(hid_t type);

// An element in memory.
std::string packed(hid_t type, const std::byte* element);
// Fills an element, whose memory is zero; what has variable length is allocated as HDF5 does it,
// also where this throws (corrupt).
void unpack(hid_t type, std::string_view bytes, std::span<std::byte> element);

}  // namespace headrace::object
