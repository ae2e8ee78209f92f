// How many forks lie between this process and the first one that asked. Costs no call of the
// system, as the process's number does.
#pragma once

#include <pthread.h>

#include <atomic>

#include "base/error.hpp"

namespace headrace {

inline unsigned forks() {
  static std::atomic<unsigned> count{0};
  static const int registered = ::pthread_atfork(nullptr, nullptr, [] { ++count; });
  if (registered != 0) throw Error("forks cannot be noticed", registered);
  return count.load(std::memory_order_relaxed);
}

}  // namespace headrace
