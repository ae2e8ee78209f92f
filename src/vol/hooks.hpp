// What a connector does around every call that HDF5 makes to it, whether or not it shadows the
// callback. All of these are optional members of the connector:
//
//   template <Callback callback, typename... Args> static void before(const Args&... args);
//     Called first, in callbacks that work on objects. What it throws is the callback's error, and
//     nothing else is done then.
//   struct During { … };
//     An object for each call, made before it and gone after it. In all callbacks it may have
//     template <Callback callback, typename... Args> void begin(const Args&... args);
//       called first, before before();
//     template <Callback callback, typename R, typename... Args>
//     void end(const Outcome<R>& outcome, const Args&... args);
//       called last, also after a call that has failed or was refused by before(). Neither may
//       throw.
//
// They run on the program's thread, in the context of the program's call and with the error stack
// as HDF5 has it: what a hook asks HDF5, it asks within PrivateErrors. Arguments are the
// callback's; after the close of an object, HDF5 has freed what `self` points to.
#pragma once

#include <cxxabi.h>

#include <exception>
#include <type_traits>

#include "base/edge.hpp"
#include "vol/callbacks.hpp"

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

template <typename C, Callback callback, typename... Args>
constexpr bool has_before() {
  return works_on_objects(callback) &&
         requires(const Args&... args) { C::template before<callback>(args...); };
}
template <typename C, Callback callback, typename... Args>
constexpr bool has_begin() {
  return requires(DuringOf<C>& during, const Args&... args) {
    during.template begin<callback>(args...);
  };
}
template <typename C, Callback callback, typename R, typename... Args>
constexpr bool has_end() {
  return requires(DuringOf<C>& during, const Outcome<R>& outcome, const Args&... args) {
    during.template end<callback>(outcome, args...);
  };
}

template <typename C, Callback callback, auto function, typename Signature = decltype(function)>
struct Hooked;

template <typename C, Callback callback, auto function, typename R, typename... Args>
struct Hooked<C, callback, function, R (*)(Args...)> {
  static constexpr bool kBefore = has_before<C, callback, Args...>();
  static constexpr bool kBegin = has_begin<C, callback, Args...>();
  static constexpr bool kEnd = has_end<C, callback, R, Args...>();

  static R call(Args... args) {
    [[maybe_unused]] DuringOf<C> during{};
    if constexpr (kBegin) during.template begin<callback>(args...);
    if constexpr (!kEnd) {
      return carry_out(args...);
    } else {
      try {
        const R result = carry_out(args...);
        during.template end<callback>(Outcome<R>{result, nullptr}, args...);
        return result;
      } catch (const abi::__forced_unwind&) {
        throw;  // the thread is ending
      } catch (...) {
        const Outcome<R> outcome{failure_value<R>(), std::current_exception()};
        during.template end<callback>(outcome, args...);
        throw;
      }
    }
  }

 private:
  static R carry_out(Args... args) {
    if constexpr (kBefore) C::template before<callback>(args...);
    return function(args...);
  }
};

// The function of the class struct for a callback, with the hooks around it.
template <typename C, Callback callback, auto function>
constexpr auto hooked() {
  using With = Hooked<C, callback, function>;
  if constexpr (With::kBefore || With::kBegin || With::kEnd)
    return &With::call;
  else
    return function;
}

}  // namespace headrace::vol
