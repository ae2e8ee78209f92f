// Zstandard frames: what the registered filter 32015 stores.
#pragma once

#include <cstddef>
#include <span>

#include "engine/buffer.hpp"

namespace headrace::engine {

// The levels there are.
[[nodiscard]] int lowest_zstd_level();
[[nodiscard]] int highest_zstd_level();

// One frame, which tells its size. Throws std::bad_alloc.
Buffer zstd_compress(int level, std::span<const std::byte> from);

// Fills `to`. Throws Error when the frame is damaged or has another size.
void zstd_decompress(std::span<const std::byte> from, std::span<std::byte> to);

}  // namespace headrace::engine
