// Configurations of files in pieces (sidecar/striped/striped_config.hpp): one that is taken keeps
// what its users count on, and comes out as it went in.
#include "sidecar/striped/striped_config.hpp"

#include <cstdint>
#include <cstdlib>
#include <string>

#include "base/error.hpp"
#include "percent.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using headrace::sidecar::parse_striped_config;
  const std::string text = from_percent(data, size);
  try {
    const auto config = parse_striped_config(text, "x.config");
    if (config.layout.stripe == 0 || config.layout.count == 0) std::abort();
    if (config.names.size() != config.layout.count) std::abort();
    for (const std::string& name : config.names)
      if (name.empty() || name == ".." || name.find('/') != std::string::npos) std::abort();
    const std::string again = headrace::sidecar::striped_config_text(config);
    const auto read = parse_striped_config(again, "x.config");
    if (read.names != config.names || read.stub != config.stub || read.id != config.id)
      std::abort();
  } catch (const headrace::Error&) {  // NOLINT(bugprone-empty-catch): what malformed input ends in
  }
  return 0;
}
