// The checksum of what Headrace writes of its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace headrace::engine {

// CRC-32 as in zlib, of what `before` is the checksum of and the bytes after it.
std::uint32_t checksum(std::span<const std::byte> bytes, std::uint32_t before = 0);

}  // namespace headrace::engine
