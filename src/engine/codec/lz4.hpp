// LZ4 blocks behind a header: what the registered filter 32004 stores.
#pragma once

#include <cstddef>
#include <span>

#include "engine/buffer.hpp"

namespace headrace::engine {

// In blocks of so many bytes, 0 for the filter's default. At most kLargestChunk bytes and some
// checksums. Throws std::bad_alloc.
Buffer lz4_compress(std::size_t block, std::span<const std::byte> from);

// Fills `to`. Throws Error when the data is damaged or has another size.
void lz4_decompress(std::span<const std::byte> from, std::span<std::byte> to);

}  // namespace headrace::engine
