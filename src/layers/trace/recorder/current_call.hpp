// The call of HDF5's that a thread is in, for what is recorded below it.
#pragma once

#include <cstdint>
#include <vector>

#include "base/call_scope.hpp"
#include "layers/trace/recorder/sums.hpp"

namespace headrace::trace {

// `number`: 0 in calls that are not recorded.
struct CurrentCall : CallScope<CurrentCall> {
  CurrentCall() : CurrentCall(current()) {}

  std::uint64_t number = 0;
  CurrentCall* within;  // the call that it was made in, on the same thread
  unsigned level = 0;   // how many connectors of this layer are above the one that was called
  // Where rows are summed up:
  std::int64_t inner = 0;         // nanoseconds of the calls of the same level made in it
  std::vector<Request> requests;  // that were made in it, without its number

  void add_up(const Request& request) {
    for (Request& sum : requests)
      if (key_of(sum) == key_of(request)) return trace::add_up(sum, request);
    requests.push_back(request);
  }

 private:
  explicit CurrentCall(CurrentCall* outer) : within(outer) {}
};

// 0 outside of all calls, so also in worker threads.
inline std::uint64_t current_number() {
  const CurrentCall* const call = CurrentCall::current();
  return call == nullptr ? 0 : call->number;
}

}  // namespace headrace::trace
