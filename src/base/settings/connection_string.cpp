#include "base/settings/connection_string.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>

#include "base/error.hpp"

namespace headrace {
namespace {

constexpr std::string_view kPlain = "_./:+-,@";

bool plain(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || kPlain.find(c) != kPlain.npos;
}

[[noreturn]] void fail(std::string_view text, const std::string& why) {
  throw Error("connection string '" + std::string(text) + "': " + why);
}

std::string decode(std::string_view text, std::string_view value) {
  std::string result;
  for (std::size_t i = 0; i < value.size(); ++i) {
    if (value[i] != '%') {
      result += value[i];
      continue;
    }
    unsigned byte = 0;
    const char* first = value.data() + i + 1;
    const bool room = i + 2 < value.size();
    if (!room || std::from_chars(first, first + 2, byte, 16).ptr != first + 2 || byte == 0)
      fail(text, "'%' is not followed by two hexadecimal digits");
    result += static_cast<char>(byte);
    i += 2;
  }
  return result;
}

std::string encode(std::string_view value) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  std::string result;
  for (const char c : value) {
    if (plain(c)) {
      result += c;
    } else {
      const auto byte = static_cast<unsigned char>(c);
      result += '%';
      result += kDigits[byte >> 4U];
      result += kDigits[byte & 15U];
    }
  }
  return result;
}

// The length of the braced part that `rest` begins with, braces included.
std::size_t braced_length(std::string_view text, std::string_view rest) {
  int depth = 0;
  for (std::size_t i = 0; i < rest.size(); ++i) {
    if (rest[i] == '{') ++depth;
    if (rest[i] == '}' && --depth == 0) return i + 1;
  }
  fail(text, "a '{' is not closed");
}

}  // namespace

Options parse_connection_string(std::string_view text) {
  Options options;
  std::string_view rest = text;
  if (text.find('\0') != text.npos) fail(text, "it holds a NUL byte");
  while (!rest.empty()) {
    const auto equals = rest.find_first_of("=;{}");
    if (equals == rest.npos || equals == 0 || rest[equals] != '=')
      fail(text, "expected key=value at '" + std::string(rest) + "'");
    std::string key(rest.substr(0, equals));
    rest.remove_prefix(equals + 1);
    std::string value;
    if (rest.starts_with('{')) {
      const auto length = braced_length(text, rest);
      value = rest.substr(1, length - 2);
      rest.remove_prefix(length);
      // HDF5's own pass_through (1.14.5 to 2.2.0) hands on one undefined byte after the text.
      if (rest.size() == 1 && rest.front() != ';') rest = {};
    } else {
      const auto end = std::min(rest.find_first_of(";{}="), rest.size());
      value = decode(text, rest.substr(0, end));
      rest.remove_prefix(end);
    }
    if (!rest.empty() && rest.front() != ';')
      fail(text, "expected ';' at '" + std::string(rest) + "'");
    if (!rest.empty()) rest.remove_prefix(1);
    if (!options.emplace(key, std::move(value)).second)
      fail(text, "key '" + key + "' stands twice");
  }
  return options;
}

std::string format_connection_string(const Options& options, std::string_view braced) {
  std::string text;
  for (const auto& [key, value] : options)
    if (key != braced) text += key + '=' + encode(value) + ';';
  if (const auto last = options.find(braced); last != options.end())
    text += last->first + "={" + last->second + '}';
  else if (!text.empty())
    text.pop_back();
  return text;
}

std::vector<std::string> values_down(const Options& options, std::string_view key,
                                     std::string_view inner) {
  std::vector<std::string> values;
  Options below;
  try {
    for (const Options* at = &options; at->contains(key); at = &below) {
      values.push_back(at->find(key)->second);
      const auto next = at->find(inner);
      below = next == at->end() ? Options() : parse_connection_string(next->second);
    }
  } catch (const Error&) {  // of somebody else
  }
  return values;
}

void check_options(const Options& options, std::span<const Setting> settings,
                   std::span<const std::string_view> extra, std::string_view layer) {
  for (const auto& [key, value] : options) {
    if (std::ranges::find(extra, key) != extra.end()) continue;
    const auto row = std::ranges::find(settings, std::string_view(key), &Setting::option);
    if (row == settings.end()) {
      std::string known;
      for (const Setting& setting : settings) known.append(" ").append(setting.option);
      throw Error("layer " + std::string(layer) + " has no option '" + key +
                  "'; it has:" + (known.empty() ? " none" : known));
    }
    check_value(*row, std::string(layer) + "(" + key + ")", value);
  }
}

}  // namespace headrace
