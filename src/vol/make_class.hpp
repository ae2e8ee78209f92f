// From a connector to HDF5's class struct. The class that it derives from, PassThrough or Terminal,
// says what goes around its functions. The compiler checks that the connector's kOverrides
// names exactly the callbacks it shadows.
#pragma once

#include <algorithm>
#include <type_traits>

#include "hdf5/edge.hpp"
#include "vol/hooks.hpp"
#include "vol/pass_through.hpp"

namespace headrace::vol {

template <typename C>
struct Traits {
  using Callback = vol::Callback;
  template <vol::Callback callback>
  using Guard = C::Inherited::template Guard<callback>;
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
  cls.info_cls.size = sizeof(typename C::ConnectorInfo);
#define HEADRACE_CLOSES_pass false
#define HEADRACE_CLOSES_own false
#define HEADRACE_CLOSES_alone false
#define HEADRACE_CLOSES_close true
#define HEADRACE_VOL(name, member, how, position)                                              \
  {                                                                                            \
    constexpr signature::name kFunction = C::name;                                             \
    constexpr signature::name kInherited = C::Inherited::name;                                 \
    static_assert(same_function<kFunction, kInherited> != overrides<C>(Callback::name), #name  \
                  ": kOverrides must name exactly the callbacks that the connector shadows");  \
    constexpr signature::name kNone = nullptr; /* HDF5 does without it */                      \
    if constexpr (!same_function<kFunction, kNone>) {                                          \
      constexpr signature::name kPrepared = prepared<C, Callback::name, kFunction>();          \
      constexpr signature::name kEntry = hooked<                                               \
          C, Callback::name,                                                                   \
          C::Inherited::template entry<Callback::name, HEADRACE_CLOSES_##how, kPrepared>()>(); \
      cls.member = &Edge<Traits<C>, Callback::name, kEntry>::call;                             \
    }                                                                                          \
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
  [[maybe_unused]] static const bool noted = (note_class(cls), true);
  return cls;
}

}  // namespace headrace::vol
