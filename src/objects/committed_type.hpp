// A type in a header: a byte, which is 1 where it is a committed one, whose id follows in order;
// and the type, as that may be gone some day.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "objects/keys.hpp"

namespace headrace::objects {

inline constexpr char kInlineType = 0;
inline constexpr char kCommittedType = 1;
inline constexpr std::size_t kTypeReference = 1 + sizeof(ObjectId);

inline std::string with_reference(ObjectId committed, const std::string& encoded) {
  return kCommittedType + in_order(committed) + encoded;
}

inline std::optional<ObjectId> committed_type(std::string_view text) {
  if (text.size() <= kTypeReference || text.front() != kCommittedType) return std::nullopt;
  return number_in(text.substr(1, kTypeReference - 1));
}

inline std::string without_reference(const std::string& text) {
  return committed_type(text) ? text.substr(kTypeReference) : text;
}

}  // namespace headrace::objects
