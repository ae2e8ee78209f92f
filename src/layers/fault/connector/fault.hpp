// The connector that changes nothing but the driver: with seat=both it puts the fault driver below
// the native connector.
#pragma once

#include "layers/fault/settings.hpp"
#include "vol/pass_through.hpp"

namespace headrace::fault {

struct Connector : vol::PassThrough<Connector> {
  static constexpr const char* kName = "headrace_fault";
  static constexpr H5VL_class_value_t kValue = 7204;
  static constexpr bool kRepeats = true;  // each with a plan of its own
  static constexpr std::span<const Setting> kSettings = fault::kSettings;
  static constexpr std::array<vol::Callback, 0> kOverrides{};

  static vol::DriverSeat driver_seat(const Options& options) {
    return vol::driver_seat(kSettings, options, "headrace_fault", "headrace_fault_mpi");
  }
};

}  // namespace headrace::fault
