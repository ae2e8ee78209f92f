#include "layers/fault/driver/gate.hpp"

#include <chrono>
#include <condition_variable>
#include <mutex>

namespace headrace::fault {
namespace {

struct Gate {
  std::mutex mutex;
  std::condition_variable changed;
  int inside = 0;  // threads that make changes
  bool closed = false;
};

// Leaked on purpose: HDF5 closes files while the process exits, after C++ statics are gone.
Gate& gate() {
  static auto* const instance = new Gate;
  return *instance;
}

// How many changes this thread is in: drivers of ours may lie below each other.
thread_local int depth = 0;

}  // namespace

UnderWay::UnderWay(bool matters) : matters_(matters) {
  if (!matters_ || depth++ > 0) return;
  std::unique_lock lock(gate().mutex);
  gate().changed.wait(lock, [] { return !gate().closed; });
  ++gate().inside;
}

UnderWay::~UnderWay() {
  if (!matters_ || --depth > 0) return;
  const std::lock_guard lock(gate().mutex);
  --gate().inside;
  if (gate().closed) gate().changed.notify_all();
}

Standstill::Standstill() {
  std::unique_lock lock(gate().mutex);
  // Of two threads that cut, each must not wait for the other's change.
  if (depth > 0) --gate().inside;
  gate().changed.notify_all();
  gate().changed.wait(lock, [] { return !gate().closed; });
  gate().closed = true;
  reached_ =
      gate().changed.wait_for(lock, std::chrono::minutes(1), [] { return gate().inside == 0; });
}

Standstill::~Standstill() {
  const std::lock_guard lock(gate().mutex);
  gate().closed = false;
  if (depth > 0) ++gate().inside;
  gate().changed.notify_all();
}

}  // namespace headrace::fault
