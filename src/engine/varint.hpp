// Integers of any size in few bytes: seven bits each, the lowest first, the top bit on all but the
// last (LEB128). Signed ones fold: 0, -1, 1, -2, ...
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/error.hpp"

namespace headrace::engine {

inline void put_varint(std::string& bytes, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7U) bytes += static_cast<char>(value | 0x80U);
  bytes += static_cast<char>(value);
}

// `value` as a difference that wraps around.
inline void put_signed(std::string& bytes, std::uint64_t value) {
  put_varint(bytes, value << 1U ^ (0 - (value >> 63U)));
}

// Takes one off the front of `bytes`. Throws Error when there is none.
inline std::uint64_t take_varint(std::string_view& bytes) {
  std::uint64_t value = 0;
  for (unsigned shift = 0; shift < 64 && !bytes.empty(); shift += 7) {
    const auto byte = static_cast<unsigned char>(bytes.front());
    bytes.remove_prefix(1);
    value |= std::uint64_t{byte & 0x7fU} << shift;
    if (byte < 0x80) return value;
  }
  throw Error("a number is damaged", ErrorKind::corrupt);
}

inline std::uint64_t take_signed(std::string_view& bytes) {
  const std::uint64_t value = take_varint(bytes);
  return value >> 1U ^ (0 - (value & 1U));
}

}  // namespace headrace::engine
