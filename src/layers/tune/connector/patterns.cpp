// Options by pattern, in TOML:
//   [[rules]]
//   file = "out-*.nc"
//   dataset = "/fields/*"
//   chunk_cache = false
#include <toml++/toml.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>

#include "base/error.hpp"
#include "base/report/printable.hpp"
#include "base/settings/connection_string.hpp"
#include "layers/tune/connector/options.hpp"
#include "layers/tune/settings.hpp"

namespace headrace::tune {
namespace {

// Those that are of one dataset; the others are of its file.
constexpr std::array<std::string_view, 6> kOfDatasets{"chunk_cache", "assume_cache", "compact",
                                                      "chunk",       "deflate",      "fill"};
// Those that are of a process or of the stack.
constexpr std::array<std::string_view, 3> kOfNoFile{"seat", "rules", "memory"};
// What else may stand in the file: python/headrace/config.py reads it, too.
constexpr std::array<std::string_view, 5> kTop{"rules", "stack", "settings", "layers", "found"};
constexpr std::uintmax_t kLargestFile = std::uintmax_t{1} << 20U;  // bytes

std::string text_of(const std::string& key, const toml::node& node) {
  if (const auto text = node.value_exact<std::string>()) return *text;
  if (const auto number = node.value_exact<std::int64_t>()) return std::to_string(*number);
  if (const auto flag = node.value_exact<bool>()) return *flag ? "true" : "false";
  throw Error("key " + key + ": expected text, a whole number, true or false");
}

std::string pattern_text(const std::string& key, const toml::node& node) {
  const auto text = node.value_exact<std::string>();
  if (!text || text->empty()) throw Error("key " + key + ": expected text such as \"*.nc\"");
  return *text;
}

Pattern pattern_of(const toml::table& rule) {
  Pattern made;
  for (const auto& [name, node] : rule) {
    const std::string key(name.str());
    if (key == "file")
      made.file = pattern_text(key, node);
    else if (key == "dataset")
      made.dataset = pattern_text(key, node);
    else
      made.options.emplace(key, text_of(key, node));
  }
  check_options(made.options, kSettings, {}, "tune");
  for (const auto& [option, text] : made.options) {
    if (std::ranges::find(kOfNoFile, option) != kOfNoFile.end())
      throw Error("key " + option + ": it is of the whole program, so not of a rule");
    if (!made.dataset.empty() && option != "allow" &&
        std::ranges::find(kOfDatasets, option) == kOfDatasets.end())
      throw Error("key " + option + ": it is of a file, so not of a rule with dataset=");
  }
  return made;
}

// Throws Error with the place.
[[noreturn]] void refuse(const std::string& path, const toml::source_region& where,
                         std::string_view why) {
  const auto line = where.begin.line;
  throw Error("layer tune: rules=" + path + (line > 0 ? ", line " + std::to_string(line) : "") +
              ": " + printable(why));
}

// Where the string that begins at `at` has ended, or its line where it has no end.
std::size_t end_of_string(std::string_view text, std::size_t at) {
  const char quote = text[at];
  const bool lines = text.substr(at, 3) == std::string(3, quote);
  const std::string end(lines ? 3 : 1, quote);
  for (at += end.size(); at < text.size() && !text.substr(at).starts_with(end);) {
    if (!lines && text[at] == '\n') return at;
    at += quote == '"' && text[at] == '\\' ? 2 : 1;
  }
  at += end.size();
  for (int more = 0; lines && more < 2 && at < text.size() && text[at] == quote; ++more) ++at;
  return at;
}

// For what toml++ 3.3 does not stand: letters beyond ASCII outside strings and comments, which TOML
// has not, and keys of very many names, each of which takes some of the stack.
void check_for_parser(std::string_view text, const std::string& path) {
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  constexpr std::string_view kNoPartOfAKey = ",=[]{}\n";
  constexpr int kMostNames = 16;
  std::size_t at = text.starts_with(kByteOrderMark) ? kByteOrderMark.size() : 0;
  int names = 1;
  const auto refuse_here = [&](const std::string& why) {
    const auto line = 1 + std::ranges::count(text.substr(0, at), '\n');
    throw Error("layer tune: rules=" + path + ", line " + std::to_string(line) + ": " + why);
  };
  while (at < text.size()) {
    if (text[at] == '"' || text[at] == '\'') {
      at = end_of_string(text, at);
      continue;
    }
    if (text[at] == '#') {
      at = std::min(text.find('\n', at), text.size());
      continue;
    }
    if ((static_cast<unsigned char>(text[at]) & 0x80U) != 0)
      refuse_here("letters beyond ASCII stand in quotes only");
    if (text[at] == '.' && ++names > kMostNames)
      refuse_here("a key of more than " + std::to_string(kMostNames) + " names");
    if (kNoPartOfAKey.find(text[at]) != std::string_view::npos) names = 1;
    ++at;
  }
}

toml::table parse(std::string_view text, const std::string& path) {
  check_for_parser(text, path);
  try {
    return toml::parse(text, path);
  } catch (const toml::parse_error& error) {
    refuse(path, error.source(), error.description());
  }
}

// Throws Error for what is no file, or one that is larger than any with rules.
std::string text_in(const std::string& path) {
  std::error_code none;
  std::ifstream file;
  if (std::filesystem::is_regular_file(path, none)) file.open(path, std::ios::binary);
  if (!file.is_open()) refuse(path, {}, "it is no file that can be read");
  const std::uintmax_t size = std::filesystem::file_size(path, none);
  if (size > kLargestFile) refuse(path, {}, "it has more than a mebibyte");
  std::string text(size, '\0');
  file.read(text.data(), static_cast<std::streamsize>(size));
  text.resize(static_cast<std::size_t>(file.gcount()));
  return text;
}

}  // namespace

std::vector<Pattern> parse_patterns(std::string_view text, const std::string& path) {
  const toml::table content = parse(text, path);
  for (const auto& [name, node] : content)
    if (std::ranges::find(kTop, name.str()) == kTop.end())
      refuse(path, name.source(), "key " + std::string(name.str()) + ": rules stand in [[rules]]");
  const toml::node* const rules = content.get("rules");
  std::vector<Pattern> patterns;
  if (rules == nullptr) return patterns;
  const toml::array* const list = rules->as_array();
  if (list == nullptr)
    refuse(path, rules->source(), "key rules: expected tables, each as [[rules]]");
  for (const toml::node& each : *list) {
    try {
      if (!each.is_table()) throw Error("key rules: expected tables, each as [[rules]]");
      patterns.push_back(pattern_of(*each.as_table()));
    } catch (const Error& error) {
      refuse(path, each.source(), error.what());
    }
  }
  return patterns;
}

std::vector<Pattern> read_patterns(const std::string& path) {
  return parse_patterns(text_in(path), path);
}

}  // namespace headrace::tune
