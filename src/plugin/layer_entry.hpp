// Makes the entries of a module's list of layers from connectors and drivers.
#pragma once

#include "plugin/module.hpp"
#include "vfd/make_class.hpp"
#include "vol/make_class.hpp"

namespace headrace {

template <typename C>
Plugin<H5VL_class_t> connector(std::string_view file) {
  constexpr bool kRepeats = [] {
    if constexpr (requires { C::kRepeats; })  // one with nothing below it is last
      return C::kRepeats;
    else
      return false;
  }();
  return {C::kName, C::kValue, file, &vol::class_of<C>, kRepeats};
}

template <typename D>
Plugin<H5FD_class_t> driver(std::string_view file) {
  return {D::kName, D::kValue, file, &vfd::class_of<D>, D::kRepeats};
}

}  // namespace headrace
