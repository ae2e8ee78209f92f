// The connector that changes nothing: the template for others, and the proof that the base is
// transparent. With seat=both it also puts the null driver below the native connector.
#pragma once

#include "layers/null/settings.hpp"
#include "vol/pass_through.hpp"

namespace headrace::null {

struct Connector : vol::PassThrough<Connector> {
  static constexpr const char* kName = "headrace_null";
  static constexpr H5VL_class_value_t kValue = 7200;
  static constexpr std::span<const Setting> kSettings = null::kSettings;
  static constexpr bool kRepeats = true;
  static constexpr std::array<vol::Callback, 0> kOverrides{};

  static vol::DriverSeat driver_seat(const Options& options) {
    return vol::driver_seat(kSettings, options, "headrace_null", "headrace_null_mpi");
  }
};

}  // namespace headrace::null
