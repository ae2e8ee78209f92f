// States of files in pieces (sidecar/striped/set_state.hpp): one that is taken comes out as it went
// in.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "percent.hpp"
#include "sidecar/striped/set_state.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace headrace::sidecar;
  const auto state = parse_set_state(from_percent(data, size));
  if (!state) return 0;
  const auto again = parse_set_state(set_state_text(*state));
  if (!again || again->closed != state->closed || again->size != state->size ||
      again->checksums != state->checksums || again->nodes != state->nodes)
    std::abort();
  return 0;
}
