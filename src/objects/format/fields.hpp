// How the entries of a container's tables are written: numbers as varints, and texts as their
// length and their bytes. What takes them throws Error (corrupt) where they are damaged.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "engine/varint.hpp"

namespace headrace::objects {

using engine::put_varint;
using engine::take_varint;

inline constexpr std::size_t kChecksum = 4;  // bytes; the lowest first

[[noreturn]] inline void fail_damaged(const char* what) {
  throw Error(std::string(what) + " is damaged", ErrorKind::corrupt);
}

inline void put_text(std::string& bytes, std::string_view text) {
  put_varint(bytes, text.size());
  bytes += text;
}

inline std::string take_text(std::string_view& bytes) {
  const std::uint64_t size = take_varint(bytes);
  if (size > bytes.size()) fail_damaged("a text");
  std::string text(bytes.substr(0, size));
  bytes.remove_prefix(size);
  return text;
}

// A number of things that each take a byte or more.
inline std::size_t take_count(std::string_view& bytes) {
  const std::uint64_t count = take_varint(bytes);
  if (count > bytes.size()) fail_damaged("a number of things");
  return count;
}

inline std::uint8_t take_byte(std::string_view& bytes) {
  if (bytes.empty()) fail_damaged("an entry");
  const auto byte = static_cast<std::uint8_t>(bytes.front());
  bytes.remove_prefix(1);
  return byte;
}

}  // namespace headrace::objects
