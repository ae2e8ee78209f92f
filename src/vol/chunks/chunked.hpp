// What readers and writers of a dataset's chunks need to know of it.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "engine/codec/pipeline.hpp"
#include "vol/dataset/elements.hpp"

namespace headrace::vol {

struct Chunked : Elements {
  engine::Index chunk{};        // elements along each dimension; all 0 where there are no chunks
  std::size_t chunk_bytes = 0;  // of a decoded chunk
  engine::Pipeline pipeline;    // empty where chunks are stored as they are; and with:
  bool by_hdf5 = false;         // they have filters that run in HDF5 only
  bool fills = true;            // whether HDF5 puts `fill` where nothing was written
  std::vector<std::byte> fill;  // one element

  [[nodiscard]] engine::Grid grid() const { return {rank, dims, chunk}; }
};

// Fill parts of it from a creation list; false when there is no such thing, or HDF5 does not tell.
// Records of it stay on the error stack: within PrivateErrors.
bool read_chunk_shape(hid_t dcpl, Chunked& dataset);
bool read_fill(hid_t dcpl, Chunked& dataset);  // of elements that are known
// Sets `chunk_bytes`; false when they are too many.
bool count_chunk_bytes(Chunked& dataset);

// All of it, its extent included; none for a dataset whose chunks cannot be decoded outside HDF5.
// The application's thread only. Throws Error.
std::optional<Chunked> chunked_of(const Object& dataset);
// All of a dataset whose type and extent are known already, also where HDF5 must decode its chunks.
std::optional<Chunked> any_chunked_of(const Object& dataset, Elements&& elements);
// A contiguous dataset as if it had chunks, of at most so many bytes, that HDF5 reads: blocks that
// lie together in the file. None of another layout.
std::optional<Chunked> in_blocks(const Object& dataset, Elements&& elements, std::size_t most);

}  // namespace headrace::vol
