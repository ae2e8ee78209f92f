// The driver that writes behind, over sec2 and over mpio.
#pragma once

#include "drivers/async/settings.hpp"
#include "vfd/pass_through.hpp"

namespace headrace::async {

template <vfd::Over over>
struct Driver : vfd::PassThrough<Driver<over>, over> {
  static constexpr const char* kName =
      over == vfd::Over::sec2 ? "headrace_async" : "headrace_async_mpi";
  static constexpr H5FD_class_value_t kValue = over == vfd::Over::sec2 ? 7206 : 7207;
  static constexpr std::span<const Setting> kSettings = async::kSettings;
  static constexpr std::array<vfd::Callback, 0> kOverrides{};
};

}  // namespace headrace::async
