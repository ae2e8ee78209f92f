// How a read or write of one dataset is carried out. What matters for that is worked out once a
// call. The program's thread only.
#pragma once

#include <memory>
#include <optional>

#include "layers/async/connector/dataset.hpp"

namespace headrace::async {

using vol::kLeftForSelection;
using vol::Reason;
inline constexpr Reason kLeftForError = "left_for_error";

enum class Route {
  queue,   // it waits for others that it may be put together with
  map,     // small chunks without filters, which their map says where to read
  chunks,  // in parts, each of a chunk that is in the cache, or decoded and encoded here
  blocks,  // by HDF5, in blocks that have what is scattered in them
  hdf5     // by HDF5 as it is
};

struct Plan {
  Route route = Route::hdf5;
  bool at_once = false;  // an asynchronous read that would gain nothing by waiting; it is timed
  std::shared_ptr<Dataset> dataset;  // whose filters are taken over, or null
  std::shared_ptr<Dataset> small;    // of route map
  Elements* elements = nullptr;      // of any dataset that may be handled here, where it matters
  std::optional<Transfer> transfer;  // where that matters
  Reason why;                        // chunks are left to HDF5
};

// `buffer`: the program's, or null. `asynchronous`: the call may leave a request.
Plan plan_read(const vol::Transfer& call, const void* buffer, bool asynchronous);
Plan plan_write(const vol::Transfer& call, const void* buffer, bool asynchronous);

// For a block of a dataset, row by row in memory, in the dataset's own type.
Plan plan_box(vol::Object& object, Elements& elements, const engine::Box& box, bool writes);

}  // namespace headrace::async
