// The connector's reads and writes of datasets, and those that it makes for requests that have
// waited. The program's thread only.
#pragma once

#include "connectors/async/selections/transfer.hpp"

namespace headrace::async {

// As the callbacks dataset_read and dataset_write.
herr_t read_datasets(std::size_t count, void* dset[], hid_t mem_type[], hid_t mem_space[],
                     hid_t file_space[], hid_t dxpl, void* buf[], void** req);
herr_t write_datasets(std::size_t count, void* dset[], hid_t mem_type[], hid_t mem_space[],
                      hid_t file_space[], hid_t dxpl, const void* buf[], void** req);

// A block of a dataset, row by row in memory, in the dataset's own type. False when HDF5 refuses.
bool read_box(vol::Object& object, Elements& elements, const engine::Box& box, std::byte* to);
bool write_box(vol::Object& object, Elements& elements, const engine::Box& box,
               const std::byte* from);

}  // namespace headrace::async
