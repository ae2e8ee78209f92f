// What the harness holds for a kernel, kept out of its clocks.
#pragma once

#include <memory>
#include <utility>

#include "run.hpp"

namespace headrace::bench {

// A buffer, or another object for the data of a step, whose making and end count as harness: the
// zeroing and the page faults of a large vector take as long as its transfer.
//
//   Scratch<std::vector<double>> data(run, count);
//   run.timed(Phase::read, [&] { …data->data()… });
//
// Not for use inside run.timed() or run.untimed(), which would count its time once more.
template <typename T>
class Scratch {
 public:
  // The arguments are T's. The caller keeps the run alive.
  template <typename... Arguments>
  explicit Scratch(Run& run, Arguments&&... arguments) : run_(run) {
    run_.untimed([&] { value_ = std::make_unique<T>(std::forward<Arguments>(arguments)...); });
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch() {
    run_.untimed([&] { value_.reset(); });
  }

  T& operator*() { return *value_; }
  T* operator->() { return value_.get(); }

 private:
  Run& run_;
  std::unique_ptr<T> value_;
};

}  // namespace headrace::bench
