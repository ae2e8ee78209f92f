// Filters out of plug-in files of HDF5, run on worker threads.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <functional>
#include <mutex>
#include <span>
#include <vector>

#include "engine/buffer.hpp"

namespace headrace::engine {

// H5Z_func_t.
using FilterFunction = std::size_t (*)(unsigned flags, std::size_t count, const unsigned values[],
                                       std::size_t bytes, std::size_t* room, void** memory);

// Copies of a plug-in file. Filters may keep state in variables of their file, or lock each other
// out, so each copy is lent to one thread at a time. Any thread; to be leaked, as the copies are.
class PlugInCopies {
 public:
  // `load` makes a copy and gives its filter, or null; `most` copies are made. Throws Error when
  // there is not even one.
  PlugInCopies(std::function<FilterFunction()> load, unsigned most);

  // Waits for a copy where all are lent.
  FilterFunction take();
  void give_back(FilterFunction copy);

 private:
  std::function<FilterFunction()> load_;
  std::mutex mutex_;
  std::condition_variable given_back_;
  std::vector<FilterFunction> free_;
  unsigned left_;     // that may be made
  bool any_ = false;  // has been made
};

// A filter with the parameters that a dataset gives it. Any thread.
class PlugInFilter {
 public:
  PlugInFilter(PlugInCopies& copies, std::span<const unsigned> parameters, bool reads_environment)
      : copies_(copies),
        parameters_(parameters.begin(), parameters.end()),
        reads_environment_(reads_environment) {}

  // Empty when the filter gains nothing, or fails. Throws std::bad_alloc.
  [[nodiscard]] Buffer encode(std::span<const std::byte> from) const;
  // Fills `to`. Throws Error when the filter fails or gives another size.
  void decode(std::span<const std::byte> from, std::span<std::byte> to) const;

  // Such a one may not run while the program, which may change the environment, goes on.
  [[nodiscard]] bool reads_environment() const { return reads_environment_; }

 private:
  PlugInCopies& copies_;
  std::vector<unsigned> parameters_;
  bool reads_environment_;
};

}  // namespace headrace::engine
