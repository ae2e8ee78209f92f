// From a driver to HDF5's class struct. The compiler checks that the driver's kOverrides names
// exactly the callbacks it shadows.
#pragma once

#include <algorithm>

#include "hdf5/edge.hpp"
#include "hdf5/quiet_errors.hpp"
#include "hdf5/report/summary.hpp"
#include "vfd/pass_through.hpp"

namespace headrace::vfd {

template <typename D>
struct Traits {
  using Callback = vfd::Callback;
  // Only these call HDF5 functions, which clear the error stack; HDF5 also closes a file because
  // opening it failed, and the reason is still on the stack then.
  template <vfd::Callback callback>
  using Guard = std::conditional_t<callback == Callback::open || callback == Callback::close ||
                                       callback == Callback::del,
                                   NestedCalls, NoGuard>;
  static CallCounts<Callback>& counts() {
    static CallCounts<Callback> counts{};
    return counts;
  }
  static const char* name(Callback callback) {
    return kCallbackNames[static_cast<std::size_t>(callback)];
  }
};

template <typename D>
constexpr bool overrides(Callback callback) {
  return std::find(D::kOverrides.begin(), D::kOverrides.end(), callback) != D::kOverrides.end();
}

template <typename D>
herr_t terminate() noexcept {
  constexpr signature::terminate kEnd = D::terminate;
  const herr_t result = Edge<Traits<D>, Callback::terminate, kEnd>::call();
  report_counts(Seat::vfd, D::kName, kCallbackNames, Traits<D>::counts());
  write_summary();
  return result;
}

template <typename D>
H5FD_class_t make_class() {
  using Base = D::Base;
  H5FD_class_t cls{};
  cls.version = H5FD_CLASS_VERSION;
  cls.value = D::kValue;
  cls.name = D::kName;
  cls.maxaddr = D::kMaxAddr;
  cls.fc_degree = D::kOver == Over::sec2 ? H5F_CLOSE_WEAK : H5F_CLOSE_SEMI;
  constexpr H5FD_mem_t kFreeLists[] = H5FD_FLMAP_DICHOTOMY;
  std::ranges::copy(kFreeLists, std::begin(cls.fl_map));
#define HEADRACE_VFD(name, kind, function)                                                       \
  {                                                                                              \
    constexpr signature::name kFunction = D::name;                                               \
    constexpr signature::name kInherited = Base::name;                                           \
    static_assert(same_function<kFunction, kInherited> != overrides<D>(Callback::name),          \
                  #name ": kOverrides must name exactly the callbacks that the driver shadows"); \
    if constexpr (!same_function<kFunction, signature::name{}>)                                  \
      cls.name = &Edge<Traits<D>, Callback::name, kFunction>::call;                              \
  }
#include "vfd/callbacks.def"
#undef HEADRACE_VFD
  cls.terminate = &terminate<D>;
  return cls;
}

template <typename D>
const H5FD_class_t& class_of() {
  static const H5FD_class_t cls = make_class<D>();
  return cls;
}

}  // namespace headrace::vfd
