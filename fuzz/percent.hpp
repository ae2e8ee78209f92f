// Inputs with any byte on one line of a corpus: %0A is a byte, all else stands for itself.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

inline std::string from_percent(const std::uint8_t* data, std::size_t size) {
  const auto digit = [](std::uint8_t c) {
    return c >= '0' && c <= '9' ? c - '0' : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
  };
  std::string bytes;
  for (std::size_t i = 0; i < size; ++i) {
    const bool escape =
        data[i] == '%' && i + 2 < size && digit(data[i + 1]) >= 0 && digit(data[i + 2]) >= 0;
    bytes += static_cast<char>(escape ? digit(data[i + 1]) * 16 + digit(data[i + 2]) : data[i]);
    if (escape) i += 2;
  }
  return bytes;
}
