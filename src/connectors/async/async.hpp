// The connector above the write-behind driver: parallel filters.
#pragma once

#include "drivers/async/settings.hpp"
#include "vol/pass_through.hpp"

namespace headrace::async {

struct Connector : vol::PassThrough<Connector> {
  static constexpr const char* kName = "headrace_async";
  static constexpr H5VL_class_value_t kValue = 7206;
  static constexpr std::span<const Setting> kSettings = async::kSettings;
  static constexpr std::array<vol::Callback, 0> kOverrides{};

  static vol::DriverSeat driver_seat(const Options& options) {
    return vol::driver_seat(kSettings, options, "headrace_async", "headrace_async_mpi");
  }
};

}  // namespace headrace::async
