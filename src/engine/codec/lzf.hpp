// LZF streams: what h5py's filter "lzf" (registered as 32000) stores.
#pragma once

#include <cstddef>
#include <span>

#include "engine/buffer.hpp"

namespace headrace::engine {

// A stream that liblzf reads, of about its size; empty where it would not be smaller than the
// bytes. At most 4 GiB. Throws std::bad_alloc.
Buffer lzf_compress(std::span<const std::byte> from);

// Fills `to`. Throws Error when the stream is damaged or has another size.
void lzf_decompress(std::span<const std::byte> from, std::span<std::byte> to);

}  // namespace headrace::engine
