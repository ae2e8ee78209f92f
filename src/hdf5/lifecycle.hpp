// What layers do before the library or the process ends, and around forks. The one place that
// registers such functions, so that layers above and below each other end in an order that loses
// nothing.
#pragma once

namespace headrace {

// What a layer still has to do: `act` is called where `needed` says so, in a context of the
// library, with the error stack kept aside.
struct EndAction {
  bool (*needed)();
  void (*act)();
};

// Has HDF5 call the action when the library ends, before HDF5 closes what the program has left
// open: it writes no dataset any more after that. To be called anew after each end, whenever there
// is something to do; costs little where the action is registered already.
void before_library_ends(const EndAction& action);

// Has the process call the action when it exits, before HDF5's own exit function: also in programs
// that have told HDF5 not to end with them (H5dont_atexit). To be called once HDF5 has started.
void before_process_ends(const EndAction& action);

// Around fork(), which any thread may call. `prepare` is called in the parent where the action is
// needed and the thread that forks may enter HDF5: it has called HDF5 last and is in no callback.
// `child` is called in each child that can use HDF5: no other thread was in a callback.
struct ForkAction {
  EndAction prepare;
  void (*child)();
};
// To be called when there is something to do: what the layer works with, staged files say, has
// registered its own functions by then, which are to run after these in the parent.
void around_forks(const ForkAction& action);

// Lives as long as a callback runs: the `During` of layers with a ForkAction derives from it.
class InCallback {
 public:
  InCallback();
  InCallback(const InCallback&) = delete;
  InCallback& operator=(const InCallback&) = delete;
  ~InCallback();
};

}  // namespace headrace
