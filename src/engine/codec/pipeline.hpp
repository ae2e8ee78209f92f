// Several filters one after the other, as a dataset has them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "engine/buffer.hpp"
#include "engine/codec/plug_in.hpp"

namespace headrace::engine {

struct Filter {
  enum class Kind { deflate, zstd, lz4, lzf, plug_in, shuffle, fletcher32 };
  Kind kind;
  // deflate: zlib's level; zstd: its level, an int; lz4: bytes of a block; shuffle: bytes of an
  // element.
  unsigned parameter = 0;
  std::shared_ptr<PlugInFilter> plug_in = nullptr;  // of its kind only
};

// Whether it is one of those that compress.
[[nodiscard]] bool compresses(Filter::Kind kind);

// At most one of the filters compresses; a shuffle's element has at least one byte.
using Pipeline = std::vector<Filter>;

// The codecs' own limits are a little above it; that of deflate is far above.
constexpr std::size_t kLargestChunk = std::size_t{1} << 30U;

// Whether chunks may be encoded while the program goes on.
[[nodiscard]] bool may_run_behind(const Pipeline& pipeline);

// What is stored for a chunk. At least one filter. Empty when a filter gains nothing, or fails:
// HDF5 leaves such a one out, or tells of it. Throws std::bad_alloc.
Buffer encode(const Pipeline& pipeline, std::span<const std::byte> raw);

// The chunk from what is stored. Filters whose bit is set in `mask` were not applied. Throws Error
// when the bytes cannot be what encode() makes of a chunk of that size.
void decode(const Pipeline& pipeline, std::uint32_t mask, std::span<const std::byte> stored,
            std::span<std::byte> raw);

}  // namespace headrace::engine
