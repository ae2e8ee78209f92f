// The call of HDF5's that a thread is in, for what is recorded below it.
#pragma once

#include <cstdint>

#include "base/call_scope.hpp"

namespace headrace::trace {

// `number`: 0 in calls that are not recorded.
struct CurrentCall : CallScope<CurrentCall> {
  CurrentCall() : CurrentCall(current()) {}

  std::uint64_t number = 0;
  const CurrentCall* within;  // the call that it was made in, on the same thread

 private:
  explicit CurrentCall(const CurrentCall* outer) : within(outer) {}
};

// 0 outside of all calls, so also in worker threads.
inline std::uint64_t current_number() {
  const CurrentCall* const call = CurrentCall::current();
  return call == nullptr ? 0 : call->number;
}

}  // namespace headrace::trace
