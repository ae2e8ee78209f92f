// The edge between HDF5's callback tables and C++: every entry of a table is one Edge<...>::call.
// It counts the call, lets no exception out, and turns one into HDF5 error records and the
// callback's failure value.
#pragma once

#include <cxxabi.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "hdf5/error_stack.hpp"

namespace headrace {

// Whether two constants are the same function (or null). Comparing the pointers is no constant
// expression under g++'s undefined behaviour sanitizer (GCC bug 71962).
template <auto function>
struct FunctionTag {};
template <auto a, auto b>
inline constexpr bool same_function = std::is_same_v<FunctionTag<a>, FunctionTag<b>>;

// What a callback of this result type returns to say that it failed.
template <typename R>
constexpr R failure_value() {
  if constexpr (std::is_pointer_v<R>)
    return nullptr;
  else if constexpr (std::is_unsigned_v<R>)
    return std::numeric_limits<R>::max();  // HADDR_UNDEF and its kin
  else
    return -1;
}

// Calls per callback of one connector or driver, in the order of its list.
template <typename Callback>
using CallCounts =
    std::array<std::atomic<std::uint64_t>, static_cast<std::size_t>(Callback::count_)>;

// Traits supplies: Callback (the enum), counts(), name(Callback), and Guard<Callback>, a type that
// is constructed before and destroyed after the call. `function` is the connector's, of type R
// (*)(Args...).
template <typename Traits, auto callback, auto function, typename Signature = decltype(function)>
struct Edge;

template <typename Traits, auto callback, auto function, typename R, typename... Args>
struct Edge<Traits, callback, function, R (*)(Args...)> {
  static R call(Args... args) {
    // Under HDF5's lock or on its only thread, so no add that would lock the bus.
    auto& count = Traits::counts()[static_cast<std::size_t>(callback)];
    count.store(count.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    [[maybe_unused]] const typename Traits::template Guard<callback> guard{};
    try {
      return function(args...);
    } catch (const abi::__forced_unwind&) {
      throw;  // the thread is ending (pthread_exit in a function of the program's, say)
    } catch (...) {
      push_current_exception(Traits::name(callback));
      return failure_value<R>();
    }
  }
};

}  // namespace headrace
