#include "connectors/log/file/fork.hpp"

#include <pthread.h>

#include <atomic>
#include <thread>

#include "connectors/log/file/all_files.hpp"
#include "hdf5/library_context.hpp"

namespace headrace::log_layout {
namespace {

// Forks may come from any thread.
struct Callers {
  std::atomic<unsigned> inside = 0;   // callbacks that run, nested ones among them
  std::atomic<std::thread::id> last;  // who called last
};

Callers& callers() {
  static auto& callers = *new Callers;
  return callers;
}

bool called_last() { return callers().last.load() == std::this_thread::get_id(); }

void prepare() {
  if (callers().inside.load() > 0 || !called_last() || !anything_pending()) return;
  const LibraryContext context;
  settle();
}

// A callback that another thread was in has left everything half done, HDF5 included: then the
// child can do nothing with either.
void begin_child() {
  if (callers().inside.load() == 0 || called_last()) lose_pending();
}

}  // namespace

Running::Running() {
  ++callers().inside;
  callers().last = std::this_thread::get_id();
}

Running::~Running() { --callers().inside; }

void settle_before_forks() {
  // After the staged log's own, so that it runs before them.
  static const int registered = ::pthread_atfork(&prepare, nullptr, &begin_child);
  static_cast<void>(registered);
}

}  // namespace headrace::log_layout
