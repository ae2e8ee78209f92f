// Stores decoded chunks of a dataset. The application's thread only. `origin`: the chunk's first
// element in the array. Within PrivateErrors.
#pragma once

#include "engine/box.hpp"
#include "engine/buffer.hpp"
#include "hdf5/filters/native_chunks.hpp"
#include "vol/chunks/chunked.hpp"

namespace headrace::vol {

// Stores what engine::encode() has made of a chunk. Throws Error.
void write_encoded(const UnderDataset& below, const engine::Index& origin,
                   std::span<const std::byte> encoded);

// Has HDF5 write a chunk of which encode() has made nothing, as a filter gains nothing: the part of
// it that lies within the extent; false when none does. The chunk is HDF5's to replace from then
// on. Throws Error.
bool write_decoded(Object& dataset, Chunked& known, const engine::Index& origin,
                   std::span<const std::byte> chunk);

// Throw Error when the chunk exists and filters were left out of it. Such a chunk is HDF5's to
// replace: after H5Dwrite_chunk it goes on using the old chunk's mask.
void require_all_filters(const UnderDataset& below, const engine::Index& origin);
void require_all_filters(std::uint32_t mask);

}  // namespace headrace::vol
