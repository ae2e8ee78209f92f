// Any text either parses, and then survives a round trip, or is an Error.
#include "base/settings/connection_string.hpp"

#include <cstdint>
#include <cstdlib>

#include "base/error.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace headrace;
  Options options;
  try {
    options = parse_connection_string({reinterpret_cast<const char*>(data), size});
  } catch (const Error&) {
    return 0;
  }
  const std::string text = format_connection_string(options, "");
  if (parse_connection_string(text) != options) std::abort();
  return 0;
}
