// The connector that puts the model driver below the native connector, and passes all else on.
#pragma once

#include "layers/model/settings.hpp"
#include "vol/pass_through.hpp"

namespace headrace::model {

struct Connector : vol::PassThrough<Connector> {
  static constexpr const char* kName = "headrace_model";
  static constexpr H5VL_class_value_t kValue = 7202;
  static constexpr std::span<const Setting> kSettings = model::kSettings;
  static constexpr std::array<vol::Callback, 0> kOverrides{};

  static vol::DriverSeat driver_seat(const Options& options) {
    return vol::driver_seat(kSettings, options, "headrace_model", "headrace_model_mpi");
  }
};

}  // namespace headrace::model
