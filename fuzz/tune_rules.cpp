// Any text is a list of rules, none of them for seats and processes, or an Error that names the
// file.
#include <cstdlib>
#include <string_view>

#include "base/error.hpp"
#include "layers/tune/connector/options.hpp"
#include "percent.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace headrace;
  const std::string text = from_percent(data, size);
  try {
    for (const tune::Pattern& one : tune::parse_patterns(text, "rules.toml"))
      if (one.options.contains("seat") || one.options.contains("memory")) std::abort();
  } catch (const Error& error) {
    if (std::string_view(error.what()).find("rules=rules.toml") == std::string_view::npos)
      std::abort();
  }
  return 0;
}
