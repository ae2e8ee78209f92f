// The names of enumerators as the compiler spells them, for enums of C headers whose names should
// not be written down once more.
#pragma once

#include <array>
#include <bit>
#include <string>
#include <string_view>
#include <utility>

namespace headrace {

template <auto enumerator>
constexpr std::string_view spelling() {
  std::string_view text = __PRETTY_FUNCTION__;  // "... [with auto enumerator = H5T_FLOAT; ..."
  text.remove_prefix(text.find('=') + 2);
  return text.substr(0, text.find_first_of(";]"));
}

// "H5T_FLOAT" for H5T_FLOAT; the number for values beyond 15. For enums that count from 0.
template <typename Enum>
std::string enum_name(Enum value) {
  constexpr auto kNames = []<unsigned... i>(std::integer_sequence<unsigned, i...>) {
    return std::array{spelling<std::bit_cast<Enum>(i)>()...};
  }(std::make_integer_sequence<unsigned, 16>());
  const auto index = static_cast<std::size_t>(value);
  return index < kNames.size() ? std::string(kNames.at(index)) : std::to_string(value);
}

}  // namespace headrace
