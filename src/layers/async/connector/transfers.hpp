// The connector's reads and writes of datasets, and those that it makes for requests that have
// waited. The program's thread only.
#pragma once

#include "layers/async/connector/dataset.hpp"

namespace headrace::async {

herr_t read_datasets(const vol::Reads& reads);
herr_t write_datasets(const vol::Writes& writes);

// A block of a dataset, row by row in memory, in the dataset's own type. False when HDF5 refuses.
bool read_box(vol::Object& object, Elements& elements, const engine::Box& box, std::byte* to);
bool write_box(vol::Object& object, Elements& elements, const engine::Box& box,
               const std::byte* from);

}  // namespace headrace::async
