// The forwarder behind most rows of vol/callbacks.def.
#pragma once

#include <tuple>
#include <type_traits>
#include <utility>

#include "vol/link_files.hpp"
#include "vol/object.hpp"

namespace headrace::vol {

// Calls `under` with the object below in place of `self` and the connector's id inserted at
// position `at`; wraps what it returns: an object if it returns a pointer, and a request.
template <std::size_t at, typename Under, typename... Rest>
auto forward(Under under, Object& self, Rest... rest) {
  const UnderRef connector = self.connector;  // a refresh may free `self`
  const std::tuple<void*, Rest...> args(self.under, rest...);
  const LinkFiles files(*connector, access_lists(rest...));
  const auto call = [&]<std::size_t... i, std::size_t... j>(std::index_sequence<i...>,
                                                            std::index_sequence<j...>) {
    return under(std::get<i>(args)..., connector->id(), std::get<at + j>(args)...);
  };
  const auto result =
      call(std::make_index_sequence<at>(), std::make_index_sequence<sizeof...(Rest) + 1 - at>());
  if constexpr (std::is_same_v<std::tuple_element_t<sizeof...(Rest), std::tuple<void*, Rest...>>,
                               void**>)
    wrap_request(std::get<sizeof...(Rest)>(args), connector);
  if constexpr (std::is_pointer_v<decltype(result)>)
    return result == nullptr ? nullptr : static_cast<void*>(new Object{result, connector});
  else
    return result;
}

// A function with exactly the signature of the callback. `under` points at the entry of `h5`.
template <auto under, std::size_t at, typename Signature>
struct Forwarder;

template <auto under, std::size_t at, typename R, typename... Rest>
struct Forwarder<under, at, R (*)(void*, Rest...)> {
  static R call(void* self, Rest... rest) {
    return forward<at>(h5.*under, Object::from(self), rest...);
  }
};

// The forwarder of a closing callback; closes the object below once.
template <auto under, typename Signature>
struct CloseForwarder;

template <auto under, typename R, typename... Rest>
struct CloseForwarder<under, R (*)(void*, Rest...)> {
  static R call(void* self, Rest... rest) {
    Object& object = Object::from(self);
    if (object.under == nullptr) return 0;
    const R result = forward<1>(h5.*under, object, rest...);
    if (result >= 0) object.under = nullptr;
    return result;
  }
};

}  // namespace headrace::vol
