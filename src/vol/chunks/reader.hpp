// Chunks as they are stored in a dataset's file, and decoded. What others hold of the dataset, HDF5
// included, is not seen before it is stored.
//
// The application's thread only, but for decode(). `origin`: the chunk's first element in the
// array.
#pragma once

#include "engine/box.hpp"
#include "engine/buffer.hpp"
#include "hdf5/filters/native_chunks.hpp"
#include "vol/chunks/chunked.hpp"

namespace headrace::vol {

struct StoredChunk {
  engine::Buffer bytes;    // empty when there is no such chunk
  std::uint32_t mask = 0;  // a bit for each filter that was left out
};

// Throws Error, also where HDF5 may have a chunk that it does not tell of: within PrivateErrors.
StoredChunk load_chunk(const Chunked& dataset, const UnderDataset& below,
                       const engine::Index& origin);

// Whether the file has the chunk. Throws Error.
bool is_stored(const UnderDataset& below, const engine::Index& origin);

// On any thread, into `chunk_bytes` of memory: the chunk, or the fill value where there is none.
// Where nothing was written HDF5 leaves the program's memory alone if `dataset.fills` is false.
// Throws Error.
void decode(const Chunked& dataset, const StoredChunk& stored, std::span<std::byte> chunk);

// Both in one, with what is wrong on no error stack.
engine::Buffer read_chunk(const Chunked& dataset, const UnderDataset& below,
                          const engine::Index& origin);

// Has HDF5 read a whole chunk, whatever its filters, into `chunk_bytes` of memory; what is beyond
// the dataset's extent is as if it was never written. Throws Error.
void read_by_hdf5(Object& object, const Chunked& dataset, const engine::Index& origin,
                  std::span<std::byte> chunk);

// As HDF5's functions for chunks take it.
std::array<hsize_t, engine::kMaxRank> offsets_of(const engine::Index& origin);

}  // namespace headrace::vol
