// Bytes as text.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace headrace {

// Two digits for each byte.
inline std::string hexadecimal(std::span<const unsigned char> bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  text.reserve(bytes.size() * 2);
  for (const unsigned char byte : bytes) {
    text += kDigits[byte >> 4U];
    text += kDigits[byte & 0xfU];
  }
  return text;
}

}  // namespace headrace
