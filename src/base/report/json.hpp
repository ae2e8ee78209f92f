// Just enough JSON to write: quoting and objects of plain fields.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace headrace {

// `text` in double quotes, escaped. Bytes that are not ASCII pass as they are.
std::string json_quote(std::string_view text);
// The same at the end of `json`.
void append_quoted(std::string& json, std::string_view text);
void append_number(std::string& json, std::uint64_t number);

// Builds {"key":value,...}; each add returns *this.
class JsonObject {
 public:
  JsonObject& text(std::string_view key, std::string_view value) {
    return raw(key, json_quote(value));
  }
  JsonObject& number(std::string_view key, long long value) {
    return raw(key, std::to_string(value));
  }
  JsonObject& boolean(std::string_view key, bool value) {
    return raw(key, value ? "true" : "false");
  }
  JsonObject& raw(std::string_view key, std::string_view json);
  [[nodiscard]] std::string str() const { return '{' + body_ + '}'; }

 private:
  std::string body_;
};

}  // namespace headrace
