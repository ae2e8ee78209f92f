// References of HDF5 1.8 to objects, where they lie in elements in memory.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "hdf5/id.hpp"

namespace headrace::object {

// Whether elements of the type have references of any kind.
bool has_references(hid_t type);
// Throws Error (unsupported) where some are of another kind; `what` they are of.
void require_object_references(hid_t type, const std::string& what);

// Puts another token in the place of each, in elements that lie one after the other.
using NewToken = std::function<std::uint64_t(std::uint64_t)>;
void replace_references(hid_t type, std::byte* elements, std::size_t count,
                        const NewToken& new_token);

}  // namespace headrace::object
