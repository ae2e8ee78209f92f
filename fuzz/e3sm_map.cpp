// Any bytes are decompositions that cover their arrays, or an Error.
#include <cstdlib>

#include "base/error.hpp"
#include "kernels/e3sm/map.hpp"
#include "percent.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace headrace;
  using namespace headrace::bench;
  try {
    for (const e3sm::Decomposition& map : e3sm::parse_map(from_percent(data, size))) {
      std::uint64_t owned = 0;
      for (std::size_t rank = 0; rank < map.ranks.size(); ++rank) owned += map.count(rank);
      std::uint64_t elements = 1;
      for (const std::uint64_t length : map.shape) elements *= length;
      if (owned != elements) std::abort();
    }
  } catch (const Error&) {  // the documented answer to nonsense
  }
  return 0;
}
