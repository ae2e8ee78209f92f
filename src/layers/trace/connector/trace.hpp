// The connector that records each call of HDF5's: what was called, on what, what it moved, and how
// long it took. It changes nothing.
#pragma once

#include "layers/trace/connector/recorded_call.hpp"
#include "layers/trace/recorder/level.hpp"
#include "layers/trace/settings.hpp"
#include "vol/file/file_facts.hpp"
#include "vol/pass_through.hpp"

namespace headrace::trace {

struct Connector : vol::PassThrough<Connector> {
  using Callback = vol::Callback;
  static constexpr const char* kName = "headrace_trace";
  static constexpr H5VL_class_value_t kValue = 7210;
  static constexpr bool kRepeats = true;  // each level tells what it sees
  static constexpr std::span<const Setting> kSettings = trace::kSettings;
  static constexpr std::array kOverrides{Callback::terminate, Callback::file_create,
                                         Callback::file_open, Callback::file_specific};

  using During = RecordedCall;

  static vol::DriverSeat driver_seat(const Options& options) {
    return vol::driver_seat(kSettings, options, "headrace_trace", "headrace_trace_mpi");
  }

  // HDF5 may have closed files since the end of the process has been seen to.
  static herr_t terminate() {
    Recorder::get().flush();
    return PassThrough::terminate();
  }

  static void* file_create(const char* name, unsigned flags, hid_t fcpl, hid_t fapl, hid_t dxpl,
                           void** req) {
    return opened({name, flags, true, fapl},
                  [&] { return PassThrough::file_create(name, flags, fcpl, fapl, dxpl, req); });
  }
  static void* file_open(const char* name, unsigned flags, hid_t fapl, hid_t dxpl, void** req) {
    return opened({name, flags, false, fapl},
                  [&] { return PassThrough::file_open(name, flags, fapl, dxpl, req); });
  }
  static herr_t file_specific(void* self, H5VL_file_specific_args_t* args, hid_t dxpl, void** req) {
    if (args->op_type == H5VL_FILE_IS_ACCESSIBLE && !vol::is_search(*args))
      start(args->args.is_accessible.fapl_id);
    if (args->op_type == H5VL_FILE_DELETE) start(args->args.del.fapl_id);
    return PassThrough::file_specific(self, args, dxpl, req);
  }

 private:
  static void start(hid_t fapl) { start_recording(vol::info_of(fapl, layer())->options); }

  template <typename Open>
  static void* opened(const vol::Opening& opening, Open open) {
    start(opening.fapl);
    const Level<Connector> level;
    void* const file = open();
    if (file != nullptr)
      tell_file(vol::Object::from(file), opening.name, opening.created,
                vol::is_parallel(opening.fapl), level.above());
    return file;
  }
};

}  // namespace headrace::trace
