// From a connector to HDF5's class struct. The compiler checks that the connector's kOverrides
// names exactly the callbacks it shadows.
#pragma once

#include <algorithm>
#include <type_traits>

#include "base/edge.hpp"
#include "hdf5/quiet_errors.hpp"
#include "vol/closing.hpp"
#include "vol/hooks.hpp"
#include "vol/pass_through.hpp"

namespace headrace::vol {

// Callbacks that work on infos and connector ids, whose functions clear the error stack.
constexpr bool clears(Callback callback) {
  return callback < Callback::wrap_get_object || callback == Callback::introspect_get_cap_flags;
}

template <typename C>
struct Traits {
  using Callback = vol::Callback;
  // Functions around infos clear the error stack and print; those of objects see to what they call.
  template <vol::Callback callback>
  using Guard = std::conditional_t<clears(callback), NestedCalls, NoGuard>;
  static CallCounts<Callback>& counts() {
    static CallCounts<Callback> counts{};
    return counts;
  }
  static const char* name(Callback callback) {
    return kCallbackNames[static_cast<std::size_t>(callback)];
  }
};

template <typename C>
constexpr bool overrides(Callback callback) {
  return std::find(C::kOverrides.begin(), C::kOverrides.end(), callback) != C::kOverrides.end();
}

template <typename C>
herr_t terminate() noexcept {
  constexpr signature::terminate kEnd = C::terminate;
  constexpr signature::terminate kEntry = hooked<C, Callback::terminate, kEnd>();
  const herr_t result = Edge<Traits<C>, Callback::terminate, kEntry>::call();
  report_counts(Seat::vol, C::kName, kCallbackNames, Traits<C>::counts());
  write_summary();
  return result;
}

template <typename C>
H5VL_class_t make_class() {
  H5VL_class_t cls{};
  cls.version = H5VL_VERSION;
  cls.value = C::kValue;
  cls.name = C::kName;
  cls.conn_version = C::kVersion;
  cls.cap_flags = C::kCapFlags;
  cls.info_cls.size = sizeof(Info);
#define HEADRACE_CLOSES_pass false
#define HEADRACE_CLOSES_own false
#define HEADRACE_CLOSES_alone false
#define HEADRACE_CLOSES_close true
#define HEADRACE_VOL(name, member, how, position)                                             \
  {                                                                                           \
    constexpr signature::name kFunction = C::name;                                            \
    constexpr signature::name kInherited = PassThrough<C>::name;                              \
    static_assert(same_function<kFunction, kInherited> != overrides<C>(Callback::name), #name \
                  ": kOverrides must name exactly the callbacks that the connector shadows"); \
    constexpr signature::name kEntry =                                                        \
        hooked<C, Callback::name,                                                             \
               entry<Callback::name, HEADRACE_CLOSES_##how, kFunction, kInherited>()>();      \
    cls.member = &Edge<Traits<C>, Callback::name, kEntry>::call;                              \
  }
#include "vol/callbacks.def"
#undef HEADRACE_VOL
#undef HEADRACE_CLOSES_pass
#undef HEADRACE_CLOSES_own
#undef HEADRACE_CLOSES_alone
#undef HEADRACE_CLOSES_close
  cls.terminate = &terminate<C>;
  return cls;
}

template <typename C>
const H5VL_class_t& class_of() {
  static const H5VL_class_t cls = make_class<C>();
  return cls;
}

}  // namespace headrace::vol
