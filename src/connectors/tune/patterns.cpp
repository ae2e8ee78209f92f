// Options by pattern, in TOML:
//   [[rules]]
//   file = "out-*.nc"
//   dataset = "/fields/*"
//   chunk_cache = false
#include <toml++/toml.h>

#include <algorithm>
#include <array>

#include "base/connection_string.hpp"
#include "base/error.hpp"
#include "connectors/tune/options.hpp"
#include "connectors/tune/settings.hpp"

namespace headrace::tune {
namespace {

// Those that are of one dataset; the others are of its file.
constexpr std::array<std::string_view, 6> kOfDatasets{"chunk_cache", "assume_cache", "compact",
                                                      "chunk",       "deflate",      "fill"};
// Those that are of a process or of the stack.
constexpr std::array<std::string_view, 3> kOfNoFile{"seat", "rules", "memory"};

std::string text_of(const std::string& key, const toml::node& node) {
  if (const auto text = node.value_exact<std::string>()) return *text;
  if (const auto number = node.value_exact<std::int64_t>()) return std::to_string(*number);
  if (const auto flag = node.value_exact<bool>()) return *flag ? "true" : "false";
  throw Error("key " + key + ": expected text, a whole number, true or false");
}

Pattern pattern_of(const toml::table& rule) {
  Pattern made;
  for (const auto& [name, node] : rule) {
    const std::string key(name.str());
    std::string text = text_of(key, node);
    if (key == "file")
      made.file = std::move(text);
    else if (key == "dataset")
      made.dataset = std::move(text);
    else
      made.options.emplace(key, std::move(text));
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

std::string place_of(const std::string& path, const toml::source_region& source) {
  return path + ", line " + std::to_string(source.begin.line) + ": ";
}

toml::table parse(const std::string& path) {
  try {
    return toml::parse_file(path);
  } catch (const toml::parse_error& error) {
    throw Error("layer tune: rules=" + place_of(path, error.source()) +
                std::string(error.description()));
  }
}

}  // namespace

std::vector<Pattern> read_patterns(const std::string& path) {
  const toml::table content = parse(path);
  const toml::node* const rules = content.get("rules");
  std::vector<Pattern> patterns;
  if (rules == nullptr) return patterns;
  const toml::array* const list = rules->as_array();
  if (list == nullptr)
    throw Error("layer tune: rules=" + place_of(path, rules->source()) +
                "key rules: expected tables, each as [[rules]]");
  for (const toml::node& each : *list) {
    try {
      if (!each.is_table()) throw Error("key rules: expected tables, each as [[rules]]");
      patterns.push_back(pattern_of(*each.as_table()));
    } catch (const Error& error) {
      throw Error("layer tune: rules=" + place_of(path, each.source()) + error.what());
    }
  }
  return patterns;
}

}  // namespace headrace::tune
