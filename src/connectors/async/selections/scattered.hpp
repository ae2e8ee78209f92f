// Reads and writes of selections that are no regular hyperslab: lists of rows, points and
// masks. HDF5 looks at each of its parts for each chunk; here a selection is cut at the borders of
// chunks once, each chunk is decoded once, and what lies near each other is read at once.
//
// The application's thread only.
#pragma once

#include "connectors/async/dataset.hpp"

namespace headrace::async {

// The arguments of a call for one dataset, whose extent is up to date.
struct Scattered {
  vol::Object& object;
  Elements& elements;
  hid_t mem_type;
  hid_t mem_space;
  hid_t file_space;
  hid_t dxpl;
};

// Of a dataset whose filters are taken over. None where it is HDF5's; throws Error where that must
// do it, or tell what is wrong.
bool read_scattered(const Scattered& call, Dataset& dataset, std::byte* program);
bool write_scattered(const Scattered& call, Dataset& dataset, const std::byte* program);

// Of any other dataset that is in this file, through HDF5.
bool read_scattered(const Scattered& call, std::byte* program);

}  // namespace headrace::async
