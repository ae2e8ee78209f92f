// Chunks between a dataset's file and memory. The program's thread only.
#pragma once

#include "connectors/async/dataset.hpp"

namespace headrace::async {

// Stores what encode() made of the chunk `raw`. Where that is nothing, HDF5 writes the chunk, which
// is its own to replace from then on. Throws Error, which names the dataset.
void store_chunk(Dataset& dataset, const engine::Index& origin, const engine::Buffer& encoded,
                 std::span<const std::byte> raw);

struct StoredChunk {
  engine::Buffer bytes;  // empty when there is no such chunk
  std::uint32_t mask = 0;
};

// Throws Error, also where HDF5 may have a chunk that it does not tell of.
StoredChunk load_chunk(const Dataset& dataset, const engine::Index& origin);

// Whether the file has the chunk.
bool is_stored(const Dataset& dataset, const engine::Index& origin);

// Throws Error when the chunk exists and filters were left out of it. Such a chunk is HDF5's to
// replace: after H5Dwrite_chunk it goes on using the old chunk's mask.
void require_all_filters(const Dataset& dataset, const engine::Index& origin);
void require_all_filters(std::uint32_t mask);

// How many chunks may be in flight.
std::size_t window_of(const Dataset& dataset);

}  // namespace headrace::async
