// The settings of the fault layer: Error is the only exception, and a short transfer is short.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "base/error.hpp"
#include "base/settings/connection_string.hpp"
#include "layers/fault/driver/plan.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace headrace;
  try {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    fault::Plan plan(parse_connection_string(text));
    const fault::Operation write{fault::Op::write, "/data/x.h5", 1, fault::Data::raw, 0, size + 1};
    if (plan.part_of(write) > size) std::abort();
    plan.hit(write);
  } catch (const Error&) {  // NOLINT(bugprone-empty-catch): what malformed input should end in
  }
  return 0;
}
