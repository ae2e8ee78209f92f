// What HDF5 may look at or change while it carries out a call: the table of vol/effects.def. What a
// connector holds back must be in the datasets before a call that would look at it there; and a
// call that is not in the table may look at all that the process has.
#pragma once

#include "vol/arguments.hpp"

namespace headrace::vol {

// What happens to what is in the reach of a call.
namespace effect {
enum Effect : unsigned {
  nothing = 0,
  reads = 1U << 0U,              // raw data of datasets
  writes = 1U << 1U,             // raw data
  reads_stored = 1U << 2U,       // chunks as they are stored, past filters
  counts = 1U << 3U,             // how much is stored of datasets or of the file
  tells_addresses = 1U << 4U,    // where it is: the program may read and write there by itself
  resizes = 1U << 5U,            // extents
  flushes = 1U << 6U,            // what HDF5 has in memory goes to the file
  refreshes = 1U << 7U,          // what HDF5 has in memory is read from the file anew
  renames = 1U << 8U,            // objects get other names
  unlinks = 1U << 9U,            // an object may go, and its token become another one's
  opens = 1U << 10U,             // a file, once more perhaps, or looks at one that is not open
  closes = 1U << 11U,            // the file, or an object
  mounts = 1U << 12U,            // names lead into other files from then on, or no more
  copies_file = 1U << 13U,       // the bytes of the file, as an image
  gives_handle = 1U << 14U,      // the program may read and write the file's bytes by itself
  lets_others_read = 1U << 15U,  // other processes, what has been written (SWMR)
  makes_atomic = 1U << 16U,      // ranks see what others write at once
  copies = 1U << 17U,            // objects, also into other files
  unknown = 1U << 18U,           // all of these, perhaps
};
constexpr unsigned kAll = (unknown << 1U) - 1;
}  // namespace effect

// Whose: of the callback's object (which, if it is a virtual dataset, is made of others), of what
// names lead to from there (perhaps by an external link, in another file), of the object's file, or
// of any file.
enum class Reach { object, named, file, process };

struct Effects {
  unsigned what = effect::nothing;  // one or several
  Reach reach = Reach::process;

  [[nodiscard]] constexpr bool any(unsigned of) const { return (what & of) != 0; }
};

// What the table does not have: what HDF5 may add, and the operations of connectors, which have the
// higher numbers and do nothing past the calls that all programs may make.
constexpr Effects unknown_effects(int operation) {
  const bool of_connector = operation >= H5VL_RESERVED_NATIVE_OPTIONAL;
  return {of_connector ? ~unsigned{effect::tells_addresses | effect::reads_stored} : ~0U,
          Reach::process};
}

// By callback when it is compiled: to look through all of the table took 0.1 us a call.
template <Callback callback>
constexpr Effects effects_of_operation(int operation) {
  [[maybe_unused]] constexpr int any = kAnyOperation;
  using enum Reach;
  using namespace effect;
#define HEADRACE_EFFECTS(name, of, reach, effects) \
  if constexpr (callback == Callback::name)        \
    if (operation == static_cast<int>(of)) return {(effects), reach};
#define HEADRACE_NATIVE_EFFECTS(name, of, number, reach, effects) \
  HEADRACE_EFFECTS(name, number, reach, effects)
#include "vol/effects.def"
#undef HEADRACE_EFFECTS
#undef HEADRACE_NATIVE_EFFECTS
  return unknown_effects(operation);
}

// What any of the operations of a callback in the table has.
constexpr unsigned all_effects_of(Callback callback) {
  using namespace effect;
  unsigned all = nothing;
#define HEADRACE_EFFECTS(name, of, reach, effects) \
  if (callback == Callback::name) all |= (effects);
#define HEADRACE_NATIVE_EFFECTS(name, of, number, reach, effects) \
  HEADRACE_EFFECTS(name, number, reach, effects)
#include "vol/effects.def"
#undef HEADRACE_EFFECTS
#undef HEADRACE_NATIVE_EFFECTS
  return all;
}

template <Callback callback>
constexpr Effects effects_of(const Arguments<callback>& args) {
  return effects_of_operation<callback>(operation_of(args));
}

}  // namespace headrace::vol
