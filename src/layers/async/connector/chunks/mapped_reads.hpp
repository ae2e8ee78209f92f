// Reads of many small chunks by a map of where they are stored, in few requests: HDF5 looks for
// each of them in its index, and reads each by itself. The program's thread only.
#pragma once

#include "layers/async/connector/chunks/chunk_transfer.hpp"

namespace headrace::async {

// Chunks that are worth a look at a map.
inline constexpr std::uint64_t kFewestMapped = 8;
// Bytes; of larger chunks the requests cost little.
inline constexpr std::size_t kLargestMapped = 64U << 10U;

// Whether a read of at most so many chunks may gain by a map. The dataset's extent is known.
bool may_gain_by_map(const Dataset& dataset, std::uint64_t chunks, const vol::Object& object);

// Whether a read gains by a map: it needs a good part of all chunks, or it and those before it do
// of a file that nobody writes to, whose maps are kept. Asks HDF5 once, when it may.
bool gains_by_map(const std::shared_ptr<Dataset>& dataset, const Transfer& transfer,
                  const vol::Object& object);

// What gains_by_map() was true for. Throws Error when HDF5 must do it, or tell what is wrong.
void read_by_map(const ChunkTransfer& transfer, const vol::Object& object, std::byte* program);

}  // namespace headrace::async
