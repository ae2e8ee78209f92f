// The connector that appends scattered writes to a log, and writes it to the datasets, in order and
// in large pieces, before anybody looks.
#pragma once

#include <span>

#include "connectors/log/file.hpp"
#include "connectors/log/fork.hpp"
#include "connectors/log/write.hpp"
#include "vol/pass_through.hpp"
#include "vol/raw_data.hpp"

namespace headrace::log_layout {

// Elements keep their numbers when a dataset grows in its slowest dimension.
template <typename... Args>
bool leaves_log_alone(const Args&... args) {
  return vol::leaves_raw_data_alone(args...);
}
inline bool leaves_log_alone(void* const& self, H5VL_dataset_specific_args_t* const& args,
                             const hid_t& /*dxpl*/, void** const& /*req*/) {
  return args->op_type == H5VL_DATASET_SET_EXTENT &&
         grows_at_its_end(vol::Object::from(self), args->args.set_extent.size);
}

// SWMR's readers see what is written before it is flushed.
inline void stop_where_others_read(void* self, const H5VL_optional_args_t* args, hid_t /*dxpl*/,
                                   void** /*req*/) {
  File* const file = File::of(*vol::Object::from(self).connector);
  if (args->op_type == H5VL_NATIVE_FILE_START_SWMR_WRITE && file != nullptr) file->stop();
}

struct Connector : vol::PassThrough<Connector> {
  using Callback = vol::Callback;

  static constexpr const char* kName = "headrace_log";
  static constexpr H5VL_class_value_t kValue = 7208;
  static constexpr std::array kOverrides{Callback::terminate,      Callback::file_create,
                                         Callback::file_open,      Callback::file_close,
                                         Callback::dataset_create, Callback::dataset_read,
                                         Callback::dataset_write,  Callback::dataset_close};

  using During = Running;

  // Whatever HDF5 does next, it finds what was logged in the datasets.
  template <Callback callback, typename... Args>
  static void before(const Args&... args) {
    if constexpr (!vol::leaves_raw_data_alone(callback)) {
      if (leaves_log_alone(args...)) return;
      settle();
      vol::extents_may_have_changed();
      if (vol::unlinks(args...)) log_nothing_more();
      if constexpr (callback == Callback::file_optional) stop_where_others_read(args...);
    }
  }

  static herr_t terminate() {
    report_writes();
    return PassThrough::terminate();
  }

  static void* file_create(const char* name, unsigned flags, hid_t fcpl, hid_t fapl, hid_t dxpl,
                           void** req) {
    void* file = PassThrough::file_create(name, flags, fcpl, fapl, dxpl, req);
    if (file != nullptr) File::opened(vol::Object::from(file), name, flags, true, fapl);
    return file;
  }

  static void* file_open(const char* name, unsigned flags, hid_t fapl, hid_t dxpl, void** req) {
    void* file = PassThrough::file_open(name, flags, fapl, dxpl, req);
    if (file != nullptr) File::opened(vol::Object::from(file), name, flags, false, fapl);
    return file;
  }

  // Objects that the program leaves open keep the file open below.
  static herr_t file_close(void* self, hid_t dxpl, void** req) {
    if (File* const file = File::of(*vol::Object::from(self).connector)) file->stop();
    return PassThrough::file_close(self, dxpl, req);
  }

  static void* dataset_create(void* self, const H5VL_loc_params_t* loc, const char* name,
                              hid_t lcpl, hid_t type, hid_t space, hid_t dcpl, hid_t dapl,
                              hid_t dxpl, void** req) {
    void* made =
        PassThrough::dataset_create(self, loc, name, lcpl, type, space, dcpl, dapl, dxpl, req);
    if (made != nullptr && name == nullptr) leave_to_hdf5(vol::Object::from(made));
    return made;
  }

  static herr_t dataset_read(std::size_t count, void* dset[], hid_t mem_type[], hid_t mem_space[],
                             hid_t file_space[], hid_t dxpl, void* buf[], void** req) {
    settle();
    for (void* one : std::span(dset, count))
      if (const File* const file = File::of(*vol::Object::from(one).connector))
        file->require_nothing_lost();
    return PassThrough::dataset_read(count, dset, mem_type, mem_space, file_space, dxpl, buf, req);
  }

  static herr_t dataset_write(std::size_t count, void* dset[], hid_t mem_type[], hid_t mem_space[],
                              hid_t file_space[], hid_t dxpl, const void* buf[], void** req) {
    if (log_writes(count, dset, mem_type, mem_space, file_space, dxpl, buf)) return 0;
    settle();
    return PassThrough::dataset_write(count, dset, mem_type, mem_space, file_space, dxpl, buf, req);
  }

  static herr_t dataset_close(void* self, hid_t dxpl, void** req) {
    if (close_behind(vol::Object::from(self))) return 0;
    return PassThrough::dataset_close(self, dxpl, req);
  }
};

}  // namespace headrace::log_layout
