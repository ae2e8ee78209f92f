// The arguments of callbacks by their names: the list of vol/arguments.def as one struct a
// callback. Where HDF5 calls a callback with other types than the list has, nothing compiles: what
// a layer does before a call is found by the callback, never by the types of its arguments.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "vol/callbacks.hpp"
#include "vol/object.hpp"

namespace headrace::vol {

// Aggregates: the arguments in HDF5's order. each(f) returns f(arguments…).
template <Callback callback>
struct Arguments;

// HEADRACE_EACH(do, a, b, …) is do(a) do(b) …; HEADRACE_LIST puts commas between.
#define HEADRACE_PARENTHESES ()
#define HEADRACE_RESCAN(...) HEADRACE_RESCAN_1(HEADRACE_RESCAN_1(HEADRACE_RESCAN_1(__VA_ARGS__)))
#define HEADRACE_RESCAN_1(...) HEADRACE_RESCAN_2(HEADRACE_RESCAN_2(HEADRACE_RESCAN_2(__VA_ARGS__)))
#define HEADRACE_RESCAN_2(...) __VA_ARGS__
#define HEADRACE_EACH(do, ...) __VA_OPT__(HEADRACE_RESCAN(HEADRACE_EACH_1(do, __VA_ARGS__)))
#define HEADRACE_EACH_1(do, first, ...) \
  do (first) __VA_OPT__(HEADRACE_EACH_AGAIN HEADRACE_PARENTHESES(do, __VA_ARGS__))
#define HEADRACE_EACH_AGAIN() HEADRACE_EACH_1
#define HEADRACE_LIST(do, ...) __VA_OPT__(HEADRACE_RESCAN(HEADRACE_LIST_1(do, __VA_ARGS__)))
#define HEADRACE_LIST_1(do, first, ...) \
  do (first) __VA_OPT__(, HEADRACE_LIST_AGAIN HEADRACE_PARENTHESES(do, __VA_ARGS__))
#define HEADRACE_LIST_AGAIN() HEADRACE_LIST_1

#define HEADRACE_WITH_TYPE(...) __VA_ARGS__
#define HEADRACE_WITHOUT_TYPE(...)
#define HEADRACE_PARAMETER(argument) HEADRACE_WITH_TYPE argument
#define HEADRACE_FIELD(argument) HEADRACE_WITH_TYPE argument;
#define HEADRACE_NAME(argument) HEADRACE_WITHOUT_TYPE argument
#define HEADRACE_ARGUMENTS(callback, ...)                                   \
  template <>                                                               \
  struct Arguments<Callback::callback> {                                    \
    HEADRACE_EACH(HEADRACE_FIELD, __VA_ARGS__)                              \
    using Types = void (*)(HEADRACE_LIST(HEADRACE_PARAMETER, __VA_ARGS__)); \
    template <typename F>                                                   \
    auto each(const F& f) const {                                           \
      return f(HEADRACE_LIST(HEADRACE_NAME, __VA_ARGS__));                  \
    }                                                                       \
  };
#include "vol/arguments.def"
#undef HEADRACE_ARGUMENTS
#undef HEADRACE_NAME
#undef HEADRACE_FIELD
#undef HEADRACE_PARAMETER
#undef HEADRACE_WITHOUT_TYPE
#undef HEADRACE_WITH_TYPE

template <typename... Args>
using Taking = void (*)(Args...);
template <typename Named, typename Signature>
constexpr bool kNamed = false;
template <typename Named, typename R, typename... Args>
constexpr bool kNamed<Named, R (*)(Args...)> =
    std::is_same_v<typename Named::Types, Taking<Args...>>;

#define HEADRACE_VOL(name, member, how, position)                   \
  static_assert(kNamed<Arguments<Callback::name>, signature::name>, \
                #name ": HDF5 calls it with other arguments than vol/arguments.def has");
#include "vol/callbacks.def"
#undef HEADRACE_VOL

// The object that a call is made for; null where it has none, and for the transfers of several
// datasets. Of links and copies: where they come from, or else where they go.
template <Callback callback>
Object* object_of(const Arguments<callback>& args) {
  const void* object = nullptr;
  if constexpr (requires { args.object; }) object = args.object;
  if constexpr (requires { args.from; }) object = args.from != nullptr ? args.from : args.to;
  return object == nullptr ? nullptr : &Object::from(object);
}

// Of callbacks that have no operations.
constexpr int kAnyOperation = -1;

// What a call asks for, of those that the callback has.
template <Callback callback>
constexpr int operation_of(const Arguments<callback>& args) {
  if constexpr (requires { args.operation->op_type; })
    return static_cast<int>(args.operation->op_type);
  else
    return kAnyOperation;
}

}  // namespace headrace::vol
