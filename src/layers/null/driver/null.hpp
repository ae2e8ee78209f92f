// The driver that changes nothing, over sec2 and over mpio: the template for others.
#pragma once

#include "vfd/pass_through.hpp"

namespace headrace::null {

template <vfd::Over over>
struct Driver : vfd::PassThrough<Driver<over>, over> {
  static constexpr const char* kName =
      over == vfd::Over::sec2 ? "headrace_null" : "headrace_null_mpi";
  static constexpr H5FD_class_value_t kValue = over == vfd::Over::sec2 ? 7200 : 7201;
  static constexpr bool kRepeats = true;
  static constexpr std::array<vfd::Callback, 0> kOverrides{};
};

}  // namespace headrace::null
