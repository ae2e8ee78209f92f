// How often a random test is repeated.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <string_view>

namespace headrace::test {

// Whether LONG=1 is set.
inline bool is_long() {
  const char* const set = std::getenv("LONG");
  const std::string_view value = set == nullptr ? "" : set;
  return !value.empty() && value != "0";
}

// So often; a fourth of it under a sanitizer, which is slow, if not LONG=1.
inline unsigned rounds(unsigned all) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  if (!is_long()) return std::max(1U, all / 4);
#endif
  return all;
}

}  // namespace headrace::test
