// What is scattered over a dataset that HDF5 stores without filters, in blocks of which HDF5 reads
// or writes each at once: it would look at each element for itself. The program's thread only.
#pragma once

#include "layers/async/connector/dataset.hpp"

namespace headrace::async {

// Whether a call may be one for blocks, by what costs little to find out.
bool may_go_by_blocks(const vol::Transfer& call);

// Of a dataset that is in this file. False where it is HDF5's; throws Error where HDF5 must do it,
// or tell what is wrong. Then some of it may have been written, as HDF5 would write it.
bool read_by_blocks(const vol::Transfer& call, Elements& elements, std::byte* program);
bool write_by_blocks(const vol::Transfer& call, Elements& elements, const std::byte* program);

}  // namespace headrace::async
