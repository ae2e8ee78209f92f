// zlib streams: what HDF5's deflate filter stores.
#pragma once

#include <cstddef>
#include <span>

#include "engine/buffer.hpp"

namespace headrace::engine {

// For levels 0 to 9 of zlib: a stream that any zlib reads, of about zlib's size at that level.
// Throws std::bad_alloc.
Buffer deflate(unsigned level, std::span<const std::byte> from);

// Fills `to`. Throws Error when the stream is damaged or has another size.
void inflate(std::span<const std::byte> from, std::span<std::byte> to);

}  // namespace headrace::engine
