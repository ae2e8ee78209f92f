// Any bytes are a link of a container, which is the same when it is written and read again, or an
// Error.
#include <cstdlib>

#include "base/error.hpp"
#include "objects/format/link.hpp"
#include "percent.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace headrace;
  const std::string input = from_percent(data, size);
  try {
    const objects::Link link = objects::decode_link(input);
    if (objects::decode_link(objects::encode(link)) != link) std::abort();
  } catch (const Error&) {  // NOLINT(bugprone-empty-catch): the documented answer to nonsense
  }
  return 0;
}
