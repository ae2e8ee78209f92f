// Any text is a header whose variables have dimensions, or an Error.
#include <cstdlib>

#include "base/error.hpp"
#include "kernels/e3sm/header.hpp"
#include "percent.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace headrace;
  using namespace headrace::bench;
  try {
    const e3sm::Header header = e3sm::parse_header(from_percent(data, size));
    for (const e3sm::Variable& variable : header.variables)
      for (const std::size_t place : variable.dimensions)
        if (place >= header.dimensions.size()) std::abort();
  } catch (const Error&) {  // the documented answer to nonsense
  }
  return 0;
}
