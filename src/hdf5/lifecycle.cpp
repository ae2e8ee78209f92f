#include "hdf5/lifecycle.hpp"

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <thread>
#include <utility>
#include <vector>

#include "hdf5/library_context.hpp"
#include "hdf5/quiet_errors.hpp"

namespace headrace {
namespace {

using Actions = std::vector<EndAction>;

// Leaked, as all of it is needed while the process exits.
struct Lists {
  Actions library;
  Actions process;
  Actions forks_prepare;
  std::vector<void (*)()> forks_child;
  std::atomic<unsigned> inside = 0;     // callbacks that run, nested ones among them
  std::atomic<std::thread::id> caller;  // the thread that was in a callback last
};

Lists& lists() {
  static auto& lists = *new Lists;
  return lists;
}

bool add(Actions& actions, const EndAction& action) {
  if (std::ranges::find(actions, action.act, &EndAction::act) != actions.end()) return false;
  actions.push_back(action);
  return true;
}

void act(const EndAction& action) {
  const LibraryContext context;
  const PrivateErrors own;
  action.act();
}

// What one layer does may be something to do for the one below it, which has registered later or
// earlier: all are asked again until none has anything to do. A copy, as layers may register
// themselves meanwhile.
void act(const Actions& registered) {
  constexpr int kRounds = 4;  // a layer that cannot do what it has to says so each time
  const Actions actions(registered.rbegin(), registered.rend());
  bool any = true;
  for (int round = 0; any && round < kRounds; ++round) {
    any = false;
    for (const EndAction& action : actions) {
      if (!action.needed()) continue;
      any = true;
      act(action);
    }
  }
}

void end_library(void* /*context*/) {
  act(std::exchange(lists().library, {}));  // HDF5 forgets its functions, and may begin anew
}

void end_process() { act(lists().process); }

bool called_last() { return lists().caller.load() == std::this_thread::get_id(); }

void prepare_forks() {
  if (lists().inside.load() > 0 || !called_last()) return;
  act(lists().forks_prepare);
}

// A callback that another thread was in has left everything half done, HDF5 included: then the
// child can do nothing with either.
void begin_child() {
  if (lists().inside.load() > 0 && !called_last()) return;
  for (void (*const child)() : lists().forks_child) child();
}

}  // namespace

void before_library_ends(const EndAction& action) {
  const bool first = lists().library.empty();
  if (add(lists().library, action) && first) h5.atclose(&end_library, nullptr);
}

void before_process_ends(const EndAction& action) {
  static const bool registered = std::atexit(&end_process) == 0;
  static_cast<void>(registered);
  add(lists().process, action);
}

void around_forks(const ForkAction& action) {
  static const int registered = ::pthread_atfork(&prepare_forks, nullptr, &begin_child);
  static_cast<void>(registered);
  if (add(lists().forks_prepare, action.prepare)) lists().forks_child.push_back(action.child);
}

InCallback::InCallback() {
  ++lists().inside;
  lists().caller = std::this_thread::get_id();
}

InCallback::~InCallback() { --lists().inside; }

}  // namespace headrace
