#include "base/report/json.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>

namespace headrace {

namespace {

bool is_escaped(char c) { return c == '"' || c == '\\' || static_cast<unsigned char>(c) < 0x20; }

}  // namespace

void append_quoted(std::string& json, std::string_view text) {
  json += '"';
  while (!text.empty()) {
    const auto* const escaped = std::ranges::find_if(text, is_escaped);
    const auto plain = static_cast<std::size_t>(escaped - text.begin());
    json += text.substr(0, plain);
    if (escaped != text.end() && static_cast<unsigned char>(*escaped) < 0x20) {
      std::array<char, 8> code{};
      std::snprintf(code.data(), code.size(), "\\u%04x", static_cast<unsigned>(*escaped));
      json += code.data();
    } else if (escaped != text.end()) {
      json += {'\\', *escaped};
    }
    text.remove_prefix(std::min(plain + 1, text.size()));
  }
  json += '"';
}

void append_number(std::string& json, std::uint64_t number) {
  std::array<char, 20> digits{};
  const auto end = std::to_chars(digits.begin(), digits.end(), number).ptr;
  json.append(digits.data(), static_cast<std::size_t>(end - digits.data()));
}

std::string json_quote(std::string_view text) {
  std::string result;
  append_quoted(result, text);
  return result;
}

JsonObject& JsonObject::raw(std::string_view key, std::string_view json) {
  if (!body_.empty()) body_ += ',';
  append_quoted(body_, key);
  body_ += ':';
  body_ += json;
  return *this;
}

}  // namespace headrace
