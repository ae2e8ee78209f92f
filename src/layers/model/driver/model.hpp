// The driver that counts what a program does with its files and, if asked, makes it take as long
// as on a parallel file system, over sec2 and over mpio. The bytes pass unchanged.
#pragma once

#include "layers/model/driver/recorder.hpp"
#include "layers/model/settings.hpp"
#include "vfd/observing.hpp"

namespace headrace::model {

template <vfd::Over over>
struct Driver : vfd::Observing<Driver<over>, over, Recorder> {
  using Observed = vfd::Observing<Driver<over>, over, Recorder>;
  static constexpr const char* kName =
      over == vfd::Over::sec2 ? "headrace_model" : "headrace_model_mpi";
  static constexpr H5FD_class_value_t kValue = over == vfd::Over::sec2 ? 7202 : 7203;
  static constexpr std::span<const Setting> kSettings = model::kSettings;
  static constexpr auto kOverrides = Observed::template overrides_with<vfd::Callback::open>();

  static H5FD_t* open(const char* name, unsigned flags, hid_t fapl, haddr_t maxaddr) {
    Configuration settings = configuration(vfd::options_of(fapl, Observed::layer()));
    H5FD_t* file = Observed::open(name, flags, fapl, maxaddr);
    if (file == nullptr) return nullptr;
    try {
      auto& opened = Observed::Opened::from(file);
      opened.observer =
          std::make_unique<Recorder>(std::move(settings), name, vfd::rank_below(opened.under));
    } catch (...) {
      Observed::close(file);
      throw;
    }
    return file;
  }
};

}  // namespace headrace::model
