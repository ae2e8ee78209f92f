// Several filters one after the other, as a dataset has them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/buffer.hpp"

namespace headrace::engine {

struct Filter {
  enum class Kind { deflate, shuffle, fletcher32 };
  Kind kind;
  unsigned parameter = 0;  // deflate: zlib's level, shuffle: bytes of an element
};

// At most one of the filters is deflate; a shuffle's element has at least one byte.
using Pipeline = std::vector<Filter>;

// What is stored for a chunk. At least one filter. Throws std::bad_alloc.
Buffer encode(const Pipeline& pipeline, std::span<const std::byte> raw);

// The chunk from what is stored. Filters whose bit is set in `mask` were not applied. Throws Error
// when the bytes cannot be what encode() makes of a chunk of that size.
void decode(const Pipeline& pipeline, std::uint32_t mask, std::span<const std::byte> stored,
            std::span<std::byte> raw);

}  // namespace headrace::engine
