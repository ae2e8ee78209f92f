// Any bytes are a ledger, which then survives a round trip and can be played, or an Error.
#include "model/ledger.hpp"

#include <cstdint>
#include <cstdlib>

#include "base/error.hpp"
#include "model/simulate.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace headrace;
  using namespace headrace::model;
  Ledger ledger;
  try {
    ledger = decode({reinterpret_cast<const std::byte*>(data), size}, "input");
  } catch (const Error&) {
    return 0;
  }
  const Ledger again = decode(encode(ledger), "input");
  if (again.header != ledger.header || again.records != ledger.records ||
      again.closed != ledger.closed)
    std::abort();
  Parameters parameters = preset("lustre-4").parameters;
  parameters.stripe_size = 1ULL << 40U;  // few pieces, however long a request claims to be
  for (const Placement placement : {Placement::append, Placement::interleave})
    simulate(workload_of({ledger}), parameters, {3, placement, true});
  return 0;
}
