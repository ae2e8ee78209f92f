// Big-endian integers inside of compressed data.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/little_endian.hpp"

namespace headrace::engine {

// The first bytes of `at`, which holds that many.
inline std::uint32_t big_endian(std::span<const std::byte> at) {
  return __builtin_bswap32(little_endian<std::uint32_t>(at.data()));
}

inline void put_big_endian(std::span<std::byte> at, std::uint32_t value) {
  put_little_endian(at.data(), __builtin_bswap32(value));
}

}  // namespace headrace::engine
