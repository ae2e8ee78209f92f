// Any bytes are a count of a group's links, or its sums, which are the same when they are written
// and read again, or an Error.
#include <cstdlib>

#include "base/error.hpp"
#include "objects/format/counted_block.hpp"
#include "objects/links.hpp"
#include "percent.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace headrace;
  const std::string input = from_percent(data, size);
  try {
    const objects::CountedBlock block = objects::decode_counted_block(input);
    if (objects::decode_counted_block(objects::encode(block)) != block) std::abort();
  } catch (const Error&) {  // NOLINT(bugprone-empty-catch): the documented answer to nonsense
  }
  try {
    const objects::Sums sums = objects::decode_sums(input);
    if (objects::decode_sums(objects::encode(sums)) != sums) std::abort();
  } catch (const Error&) {  // NOLINT(bugprone-empty-catch): as well
  }
  return 0;
}
