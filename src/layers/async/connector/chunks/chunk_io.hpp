// Chunks between a dataset's file and memory, counted. The program's thread only.
#pragma once

#include "layers/async/connector/dataset.hpp"
#include "vol/chunks/reader.hpp"
#include "vol/chunks/writer.hpp"

namespace headrace::async {

// Stores what encode() made of the chunk `raw`. Where that is nothing, HDF5 writes the chunk, which
// is its own to replace from then on. Throws Error, which names the dataset.
void store_chunk(Dataset& dataset, const engine::Index& origin, const engine::Buffer& encoded,
                 std::span<const std::byte> raw);

// As vol::load_chunk().
using vol::StoredChunk;
StoredChunk load_chunk(const Dataset& dataset, const engine::Index& origin);

// Whether the file has the chunk.
bool is_stored(const Dataset& dataset, const engine::Index& origin);

// As vol::require_all_filters().
void require_all_filters(const Dataset& dataset, const engine::Index& origin);

// How many chunks may be in flight.
std::size_t window_of(const Dataset& dataset);

}  // namespace headrace::async
