// Integers at fixed places of a file, the lowest byte first.
#pragma once

#include <cstddef>
#include <cstdint>

namespace headrace {

// `at` has room for the value.
template <typename T>
void put_little_endian(std::byte* at, T value) {
  for (std::size_t i = 0; i < sizeof(T); ++i)
    at[i] = static_cast<std::byte>(static_cast<std::uint64_t>(value) >> (8 * i));
}

template <typename T>
T little_endian(const std::byte* at) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < sizeof(T); ++i)
    value |= std::to_integer<std::uint64_t>(at[i]) << (8 * i);
  return static_cast<T>(value);
}

}  // namespace headrace
