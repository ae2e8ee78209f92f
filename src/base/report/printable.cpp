#include "base/report/printable.hpp"

namespace headrace {
namespace {

// Bytes of the UTF-8 character that text begins with; 0 when it begins with none. Shorter forms
// than the shortest, halves of surrogates and what is beyond Unicode are none.
std::size_t character(std::string_view text) {
  const auto byte = [&](std::size_t i) -> unsigned {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0;
  };
  const unsigned first = byte(0);
  if (first < 0x80) return 1;
  const std::size_t size = first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
  if (first < 0xc2 || first > 0xf4) return 0;
  for (std::size_t i = 1; i < size; ++i)
    if (byte(i) >> 6 != 2) return 0;
  const unsigned start = first << 8 | byte(1);
  const bool refused = (first == 0xe0 && start < 0xe0a0) || (first == 0xed && start >= 0xeda0) ||
                       (first == 0xf0 && start < 0xf090) || (first == 0xf4 && start >= 0xf490);
  return refused ? 0 : size;
}

}  // namespace

std::string printable(std::string_view text) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string result;
  result.reserve(text.size());
  while (!text.empty()) {
    const std::size_t size = character(text);
    const auto first = static_cast<unsigned char>(text.front());
    if (size > 0 && first >= 0x20 && first != 0x7f) {
      result += text.substr(0, size);
      text.remove_prefix(size);
      continue;
    }
    result += "\\x";
    result += kDigits[first >> 4];
    result += kDigits[first & 15];
    text.remove_prefix(1);
  }
  return result;
}

}  // namespace headrace
