// The forwarder behind most rows of vol/callbacks.def.
#pragma once

#include <tuple>
#include <type_traits>

#include "vol/file/link_files.hpp"
#include "vol/object.hpp"
#include "vol/under.hpp"

namespace headrace::vol {

// A refresh opens its object again, and frees the one that it is called for.
constexpr bool may_free_its_object(Callback callback) {
  return callback == Callback::dataset_specific || callback == Callback::datatype_specific ||
         callback == Callback::group_specific || callback == Callback::object_specific;
}

// Calls the connector below with the object below in place of `self`; wraps what it returns: an
// object if it returns a pointer, and a request.
template <Callback callback, typename... Rest>
auto forward(Object& self, Rest... rest) {
  // A copy costs two operations that lock the bus.
  std::conditional_t<may_free_its_object(callback), const UnderRef, const UnderRef&> connector =
      self.connector;
  const LinkFiles files(*connector, access_lists(rest...));
  const auto result = call_under<callback>(*connector, self.under, rest...);
  using Last = std::tuple_element_t<sizeof...(Rest), std::tuple<void*, Rest...>>;
  if constexpr (std::is_same_v<Last, void**>)
    wrap_request(std::get<sizeof...(Rest) - 1>(std::tuple<Rest...>(rest...)), connector);
  if constexpr (std::is_pointer_v<decltype(result)>)
    return result == nullptr ? nullptr : static_cast<void*>(new Object{result, connector});
  else
    return result;
}

// A function with exactly the signature of the callback.
template <Callback callback, typename Signature>
struct Forwarder;

template <Callback callback, typename R, typename... Rest>
struct Forwarder<callback, R (*)(void*, Rest...)> {
  static R call(void* self, Rest... rest) { return forward<callback>(Object::from(self), rest...); }
};

// The forwarder of a closing callback; closes the object below once.
template <Callback callback, typename Signature>
struct CloseForwarder;

template <Callback callback, typename R, typename... Rest>
struct CloseForwarder<callback, R (*)(void*, Rest...)> {
  static R call(void* self, Rest... rest) {
    Object& object = Object::from(self);
    if (object.under == nullptr) return 0;
    const R result = forward<callback>(object, rest...);
    if (result >= 0) object.under = nullptr;
    return result;
  }
};

}  // namespace headrace::vol
