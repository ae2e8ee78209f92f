#include "model/quantity.hpp"

#include <array>
#include <charconv>
#include <cmath>

#include "base/settings/settings.hpp"

namespace headrace::model {
namespace {

std::string show(double value, std::string_view unit) {
  std::array<char, 48> text{};
  const auto [end, code] = value < 1000 ? std::to_chars(text.data(), text.data() + text.size(),
                                                        value, std::chars_format::general, 3)
                                        : std::to_chars(text.data(), text.data() + text.size(),
                                                        value, std::chars_format::fixed, 0);
  return std::string(text.data(), code == std::errc() ? end : text.data()) + ' ' +
         std::string(unit);
}

}  // namespace

double parse_duration(std::string_view what, std::string_view text) {
  return static_cast<double>(number_of(Type::duration, what, text)) / 1e9;
}

std::string show_bytes(double bytes) {
  constexpr std::array<std::string_view, 6> kUnits{"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
  std::size_t unit = 0;
  while (bytes >= 1000 && unit + 1 < kUnits.size()) {
    bytes /= 1024;
    ++unit;
  }
  return show(bytes, kUnits.at(unit));
}

std::string show_seconds(double seconds) {
  if (seconds == 0 || seconds >= 1) return show(seconds, "s");
  if (seconds >= 1e-3) return show(seconds * 1e3, "ms");
  return show(seconds * 1e6, "us");
}

std::string json_number(double value) {
  if (!std::isfinite(value)) return "null";
  std::array<char, 32> text{};
  const auto [end, code] = std::to_chars(text.data(), text.data() + text.size(), value);
  return {text.data(), code == std::errc() ? end : text.data()};
}

}  // namespace headrace::model
