// Blosc-1 buffers: what the registered filter 32001 stores. Debian's static library of Blosc cannot
// be part of a shared one; the libraries of its parts can.
#pragma once

#include <cstddef>
#include <span>

#include "engine/buffer.hpp"

namespace headrace::engine {

struct BloscOptions {
  // Blosc's codes. There are more: those that are not in every build of it, and its own.
  enum class Compressor : unsigned { lz4 = 1, lz4hc = 2, zlib = 4, zstd = 5 };
  std::size_t element;  // 1 to 255 bytes
  unsigned level;       // 0 to 9
  bool shuffle;         // by bytes
  Compressor compressor;
};

// A buffer that any Blosc reads, of about its size, but never of the size of the bytes: see Codec
// in pipeline.cpp. At most kLargestChunk bytes and some checksums. Throws std::bad_alloc.
Buffer blosc_compress(const BloscOptions& options, std::span<const std::byte> from);

// Fills `to`. Throws Error when the buffer is damaged or has another size, and when it is made with
// what is not among the options.
void blosc_decompress(std::span<const std::byte> from, std::span<std::byte> to);

}  // namespace headrace::engine
