// The mappings of a virtual dataset, as its creation list has them.
//
// The program's thread only; throws Error.
#pragma once

#include <vector>

#include "layers/object/virtual/source_name.hpp"
#include "layers/object/virtual/unlimited.hpp"

namespace headrace::object {

struct Mapping {
  Id<Kind::dataspace> here;   // what is selected in the virtual dataset
  Id<Kind::dataspace> there;  // and in its source
  SourceName file;            // "." is the virtual dataset's
  SourceName dataset;
  Unlimited unlimited;         // of `here`
  Unlimited source_unlimited;  // of `there`
  // What `here` selects lies between these, where it selects anything; not of the unlimited
  // dimension.
  bool is_empty = false;
  Sizes first{};
  Sizes last{};

  // Whether each block of it is a source's.
  [[nodiscard]] bool has_blocks() const { return unlimited && !source_unlimited; }
};

std::vector<Mapping> mappings_of(hid_t dcpl);

// A list's selections without the offsets that they may have (H5Soffset_simple): HDF5 does not
// encode those.
void take_in_offsets(hid_t dcpl);
Id<Kind::dataspace> without_offset(hid_t space);

// The least dims that all has room in that is not unlimited.
std::vector<std::uint64_t> least_dims(const std::vector<Mapping>& mappings, std::size_t rank);

}  // namespace headrace::object
