// Text that everybody can show, of whatever bytes.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace headrace {

// UTF-8 as it is; control characters and bytes that are no UTF-8 as \xHH. Python refuses messages
// with such bytes.
std::string printable(std::string_view text);

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
