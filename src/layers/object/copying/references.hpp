// References of HDF5 1.8, to objects and regions, where they lie in elements in memory.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "hdf5/id.hpp"

namespace headrace::object {

// Whether elements of the type have references of any kind.
bool has_references(hid_t type);
// Throws Error (unsupported) where some are of another kind; `what` they are of.
void require_old_references(hid_t type, const std::string& what);

// What an element of the copy has in the place of one that leads somewhere.
struct NewReferences {
  std::function<std::uint64_t(std::uint64_t token)> object;
  std::function<hdset_reg_ref_t(const hdset_reg_ref_t& reference)> region;
};
// In elements that lie one after the other.
void replace_references(hid_t type, std::byte* elements, std::size_t count,
                        const NewReferences& anew);

}  // namespace headrace::object
