// What a connector does around every call that HDF5 makes to it, whether or not it shadows the
// callback. All of these are optional members of the connector; arguments have names
// (vol/arguments.hpp):
//
//   template <Callback callback> static auto before(const Arguments<callback>& args);
//     Called before the connector's function, in callbacks that work on objects. What it throws is
//     the callback's error, and nothing else is done then. It may return what is called with
//     whether the function has succeeded, which may throw.
//   struct During { … };
//     An object for each call, made before it and gone after it, in callbacks that it has one of
//     these for. In all callbacks it may have
//     template <Callback callback> void begin(const Arguments<callback>& args);
//       called first, before before();
//     template <Callback callback, typename R>
//     void end(const Outcome<R>& outcome, const Arguments<callback>& args);
//       called last, also after a call that has failed or was refused by before(). Neither may
//       throw.
//
// They run on the program's thread, in the context of the program's call and with the error stack
// as HDF5 has it: what a hook asks HDF5, it asks within PrivateErrors. After the close of an
// object, HDF5 has freed what `object` points to.
#pragma once

#include <cxxabi.h>

#include <exception>
#include <type_traits>

#include "base/error.hpp"
#include "hdf5/edge.hpp"
#include "vol/arguments.hpp"

namespace headrace::vol {

// How a call has ended.
template <typename R>
struct Outcome {
  R result;                    // what HDF5 gets: failure_value<R>() for a call that has failed
  std::exception_ptr refusal;  // what the connector has thrown; null where it has not
  [[nodiscard]] bool failed() const { return refusal != nullptr || result == failure_value<R>(); }
};

struct Nothing {};

template <typename C>
auto during() {
  if constexpr (requires { typename C::During; })
    return std::type_identity<typename C::During>();
  else
    return std::type_identity<Nothing>();
}
template <typename C>
using DuringOf = decltype(during<C>())::type;

// Callbacks that work on objects: those of infos and wrapping come before, in the list.
constexpr bool works_on_objects(Callback callback) {
  return callback > Callback::wrap_free_wrap_ctx;
}
template <Callback callback>
concept WorksOnObjects = works_on_objects(callback);

// The connector's function, with before() and what that returns.
template <typename C, Callback callback, auto function, typename Signature = decltype(function)>
struct Prepared;

template <typename C, Callback callback, auto function, typename R, typename... Args>
struct Prepared<C, callback, function, R (*)(Args...)> {
  static constexpr bool kBefore =
      works_on_objects(callback) &&
      requires(const Arguments<callback>& args) { C::template before<callback>(args); };

  static R call(Args... args) {
    using After = decltype(C::template before<callback>(Arguments<callback>{args...}));
    if constexpr (std::is_void_v<After>) {
      C::template before<callback>(Arguments<callback>{args...});
      return function(args...);
    } else {
      const After after = C::template before<callback>(Arguments<callback>{args...});
      R result = failure_value<R>();
      const std::exception_ptr error = error_of([&] { result = function(args...); });
      const std::exception_ptr late = error_of([&] { after(result != failure_value<R>()); });
      if (error != nullptr || late != nullptr) std::rethrow_exception(error ? error : late);
      return result;
    }
  }
};

template <typename C, Callback callback, auto function>
constexpr auto prepared() {
  using With = Prepared<C, callback, function>;
  if constexpr (With::kBefore)
    return &With::call;
  else
    return function;
}

// A function with what is around the whole call.
template <typename C, Callback callback, auto function, typename Signature = decltype(function)>
struct Hooked;

template <typename C, Callback callback, auto function, typename R, typename... Args>
struct Hooked<C, callback, function, R (*)(Args...)> {
  using Named = Arguments<callback>;
  static constexpr bool kBegin =
      requires(DuringOf<C>& during, const Named& args) { during.template begin<callback>(args); };
  static constexpr bool kEnd =
      requires(DuringOf<C>& during, const Outcome<R>& outcome, const Named& args) {
        during.template end<callback>(outcome, args);
      };

  static R call(Args... args) {
    [[maybe_unused]] DuringOf<C> during{};
    if constexpr (kBegin) during.template begin<callback>(Named{args...});
    if constexpr (!kEnd) {
      return function(args...);
    } else {
      try {
        const R result = function(args...);
        during.template end<callback>(Outcome<R>{result, nullptr}, Named{args...});
        return result;
      } catch (const abi::__forced_unwind&) {
        throw;  // the thread is ending
      } catch (...) {
        const Outcome<R> outcome{failure_value<R>(), std::current_exception()};
        during.template end<callback>(outcome, Named{args...});
        throw;
      }
    }
  }
};

template <typename C, Callback callback, auto function>
constexpr auto hooked() {
  using With = Hooked<C, callback, function>;
  if constexpr (With::kBegin || With::kEnd)
    return &With::call;
  else
    return function;
}

}  // namespace headrace::vol
