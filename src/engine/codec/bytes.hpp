// Integers inside of compressed data.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace headrace::engine {

// The first bytes of `at`, which holds that many.
inline std::uint32_t little_endian(std::span<const std::byte> at) {
  std::uint32_t value = 0;
  for (unsigned i = 0; i < 4; ++i) value |= std::to_integer<std::uint32_t>(at[i]) << 8 * i;
  return value;
}

inline void put_little_endian(std::span<std::byte> at, std::uint32_t value) {
  for (unsigned i = 0; i < 4; ++i) at[i] = std::byte(value >> 8 * i & 0xffU);
}

inline std::uint32_t big_endian(std::span<const std::byte> at) {
  return __builtin_bswap32(little_endian(at));
}

inline void put_big_endian(std::span<std::byte> at, std::uint32_t value) {
  put_little_endian(at, __builtin_bswap32(value));
}

}  // namespace headrace::engine
