// Chunks between a dataset's file and memory, and what was done in all.
#pragma once

#include <map>
#include <string_view>

#include "connectors/async/dataset.hpp"

namespace headrace::async {

// How often the filters did what; bytes are those of decoded chunks.
struct Statistics {
  std::uint64_t encoded = 0;
  std::uint64_t encoded_bytes = 0;
  std::uint64_t stored_bytes = 0;    // what those have become
  std::uint64_t left_out = 0;        // chunks in which a filter gained nothing, stored by HDF5
  std::uint64_t encoded_behind = 0;  // of those, chunks whose write had returned before
  std::uint64_t decoded = 0;
  std::uint64_t decoded_bytes = 0;
  std::uint64_t decoded_behind = 0;  // of those, chunks whose read had returned before
  std::uint64_t cache_hits = 0;
  std::uint64_t scattered = 0;        // reads and writes of what is no regular hyperslab
  std::uint64_t direct_reads = 0;     // of contiguous data, without HDF5
  std::uint64_t requests_merged = 0;  // asynchronous ones that were carried out with others
  // Reads and writes of datasets that were left to HDF5, by the reason.
  std::map<std::string_view, std::uint64_t> left;
};

// The application's thread only.
Statistics& statistics();

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
