// Ids that nothing else has: 16 digits of 64 random bits, in base 16.
#pragma once

#include <sys/random.h>

#include <cerrno>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/error.hpp"

namespace headrace {

inline constexpr std::string_view kIdLetters = "0123456789abcdef";
inline constexpr std::size_t kIdDigits = 16;

// Throws Error.
inline std::string new_unique_id() {
  std::uint64_t number = 0;
  if (::getrandom(&number, sizeof number, 0) != sizeof number)
    throw Error("no random number for an id", errno);
  std::string id;
  for (std::size_t digit = 0; digit < kIdDigits; ++digit, number /= kIdLetters.size())
    id.push_back(kIdLetters[number % kIdLetters.size()]);
  return id;
}

// Whether it is the text of one.
inline bool is_unique_id(std::string_view text) {
  return text.size() == kIdDigits && text.find_first_not_of(kIdLetters) == std::string_view::npos;
}

}  // namespace headrace
