// Fill values of datasets of a container. One that leads to strings or sequences of variable length
// is kept as the header's data, in its form in a container: HDF5 encodes of it, in a creation list,
// nothing but where it lies in memory.
//
// The program's thread only; throws Error.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "hdf5/id.hpp"
#include "objects/format/header.hpp"

namespace headrace::object {

// A list itself, only to be looked at: a copy costs a good part of making a dataset.
Id<Kind::plist> shared(hid_t list);

// What a header has of a creation list.
struct StoredCreation {
  Id<Kind::plist> list;             // to be encoded
  std::optional<std::string> data;  // the header's
};
// `type`: the program's; `file_type`: its form in a container.
StoredCreation stored_creation(hid_t type, hid_t file_type, hid_t dcpl);
// Makes a list that was decoded the program's again.
void restore_fill(const objects::Header& header, hid_t type, hid_t file_type, hid_t dcpl);

// Whether the header's data is a fill value; `dcpl`: as it was decoded.
bool keeps_fill(hid_t file_type, hid_t dcpl);
// An element as it is where nothing was written, in its form in a container; `dcpl`: as well.
std::vector<std::byte> fill_of(const objects::Header& header, hid_t type, hid_t file_type,
                               hid_t dcpl);

}  // namespace headrace::object
