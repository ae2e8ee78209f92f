// The driver that records each request of a file. The bytes pass unchanged.
#pragma once

#include "layers/trace/driver/file_requests.hpp"
#include "layers/trace/recorder/level.hpp"
#include "layers/trace/settings.hpp"
#include "vfd/observing.hpp"

namespace headrace::trace {

struct DriverSeat;

template <vfd::Over over>
struct Driver : vfd::Observing<Driver<over>, over, FileRequests> {
  using Observed = vfd::Observing<Driver<over>, over, FileRequests>;
  using Callback = vfd::Callback;
  static constexpr const char* kName =
      over == vfd::Over::sec2 ? "headrace_trace" : "headrace_trace_mpi";
  static constexpr H5FD_class_value_t kValue = over == vfd::Over::sec2 ? 7210 : 7211;
  static constexpr bool kRepeats = true;
  static constexpr std::span<const Setting> kSettings = trace::kSettings;
  static constexpr auto kOverrides =
      Observed::template overrides_with<Callback::open, Callback::close, Callback::terminate>();

  static H5FD_t* open(const char* name, unsigned flags, hid_t fapl, haddr_t maxaddr) {
    start_recording(vfd::options_of(fapl, Observed::layer()));
    const Level<DriverSeat> level;
    H5FD_t* file = Observed::open(name, flags, fapl, maxaddr);
    if (file == nullptr) return nullptr;
    try {
      auto& opened = Observed::Opened::from(file);
      opened.observer =
          std::make_unique<FileRequests>(name, vfd::rank_below(opened.under), level.above());
    } catch (...) {
      Observed::close(file);
      throw;
    }
    return file;
  }

  // A child may end without HDF5, and so without the actions at its end.
  static herr_t close(H5FD_t* file) {
    const herr_t result = Observed::close(file);
    if (Recorder::get().in_child()) Recorder::get().flush();
    return result;
  }

  // HDF5 may have closed files since the end of the process has been seen to.
  static herr_t terminate() {
    Recorder::get().flush();
    return Observed::terminate();
  }
};

}  // namespace headrace::trace
