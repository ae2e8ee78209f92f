// How a dataset's elements are stored, as its creation property list says. What fails leaves its
// records on HDF5's error stack: within PrivateErrors or NestedCalls. The application's thread
// only.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/box.hpp"
#include "hdf5/id.hpp"
#include "vol/object.hpp"

namespace headrace::vol {

// A dataset's list; asks HDF5. Throws Error, with nothing on the error stack.
Id<Kind::plist> creation_list(const Object& dataset);

// Whether the elements of a dataset are those of others; asks HDF5. Throws Error.
bool is_virtual(const Object& dataset);

struct ChunkShape {
  unsigned rank = 0;
  engine::Index lengths{};  // elements along each of `rank` dimensions
};

// None for a dataset without chunks.
std::optional<ChunkShape> chunk_shape(hid_t dcpl);

// Whether filters are applied to the chunks at a dataset's borders as to all others.
bool filters_all_chunks(hid_t dcpl);

struct AppliedFilter {
  H5Z_filter_t id = H5Z_FILTER_NONE;
  std::vector<unsigned> values;  // parameters, as HDF5 stores them; at most kMostFilterValues
  bool has_more = false;         // parameters than those
  std::string name;              // as the filter calls itself; may be empty
};
inline constexpr std::size_t kMostFilterValues = 64;

// In the order in which they are applied to what is written. None when HDF5 does not tell.
std::optional<std::vector<AppliedFilter>> filters_of(hid_t dcpl);

// The first filter that is not known to give back all bits that it was given.
std::optional<AppliedFilter> inexact_filter(const std::vector<AppliedFilter>& filters);

}  // namespace headrace::vol
