// The connector above the write-behind driver: parallel filters.
#pragma once

#include <algorithm>

#include "connectors/async/chunk_cache.hpp"
#include "connectors/async/closings.hpp"
#include "connectors/async/control.hpp"
#include "connectors/async/dataset.hpp"
#include "connectors/async/file_state.hpp"
#include "connectors/async/filters.hpp"
#include "connectors/async/queue.hpp"
#include "connectors/async/raw_writes.hpp"
#include "connectors/async/request.hpp"
#include "drivers/async/mpi_file.hpp"
#include "drivers/async/settings.hpp"
#include "vol/pass_through.hpp"

namespace headrace::async {

struct Connector : vol::PassThrough<Connector> {
  using Callback = vol::Callback;

  static constexpr const char* kName = "headrace_async";
  static constexpr H5VL_class_value_t kValue = 7206;
  static constexpr std::span<const Setting> kSettings = async::kSettings;
  static constexpr std::array kOverrides{
      Callback::initialize,       Callback::terminate,        Callback::introspect_opt_query,
      Callback::file_create,      Callback::file_open,        Callback::file_optional,
      Callback::file_close,       Callback::dataset_create,   Callback::dataset_read,
      Callback::dataset_write,    Callback::dataset_optional, Callback::dataset_close,
      Callback::request_wait,     Callback::request_notify,   Callback::request_cancel,
      Callback::request_specific, Callback::request_optional, Callback::request_free};

  static vol::DriverSeat driver_seat(const Options& options) {
    return vol::driver_seat(kSettings, options, "headrace_async", "headrace_async_mpi");
  }

  // Whatever HDF5 does next, it finds the chunks that this connector holds in the file.
  template <Callback callback, typename... Args>
  static void before(const Args&... args) {
    if constexpr (callback == Callback::dataset_close || callback == Callback::group_close)
      settle_before_close();
    if constexpr (!leaves_chunks_alone(callback)) {
      if (leaves_chunks_alone(args...)) return;
      if constexpr (kind_of(callback) != H5VL_SUBCLS_NONE)
        if (is_ours(kind_of(callback), args...)) return;
      carry_out_queue();
      settle();
      settle_mpi_files();
      if (unlinks(args...)) note_unlinked();
      if constexpr (callback == Callback::dataset_specific ||
                    callback == Callback::dataset_optional || callback == Callback::object_specific)
        if (changes_chunks(args...))
          distrust(object_of(args...), callback == Callback::dataset_optional);
      if constexpr (callback == Callback::object_copy || callback == Callback::file_close)
        forget_closed_datasets();
      if constexpr (callback == Callback::file_close) note_closing(object_of(args...));
      if constexpr (callback == Callback::file_optional) stop_where_others_look(args...);
    }
  }

  static herr_t initialize(hid_t vipl) {
    register_operations();
    return PassThrough::initialize(vipl);
  }

  static herr_t introspect_opt_query(void* self, H5VL_subclass_t kind, int operation,
                                     std::uint64_t* flags) {
    if (!is_operation(kind, operation))
      return PassThrough::introspect_opt_query(self, kind, operation, flags);
    *flags = H5VL_OPT_QUERY_SUPPORTED;
    return 0;
  }

  static herr_t terminate() {
    report_filters();
    return PassThrough::terminate();
  }

  static void* file_create(const char* name, unsigned flags, hid_t fcpl, hid_t fapl, hid_t dxpl,
                           void** req) {
    return opened(PassThrough::file_create(name, flags, fcpl, fapl, dxpl, req), flags, true, fapl);
  }

  static void* file_open(const char* name, unsigned flags, hid_t fapl, hid_t dxpl, void** req) {
    return opened(PassThrough::file_open(name, flags, fapl, dxpl, req), flags, false, fapl);
  }

  static herr_t file_optional(void* self, H5VL_optional_args_t* args, hid_t dxpl, void** req) {
    if (!is_operation(H5VL_SUBCLS_FILE, args->op_type))
      return PassThrough::file_optional(self, args, dxpl, req);
    operate_on_file(vol::Object::from(self), *args);
    return 0;
  }

  static herr_t file_close(void* self, hid_t dxpl, void** req) {
    const vol::UnderRef connector = vol::Object::from(self).connector;
    const herr_t result = PassThrough::file_close(self, dxpl, req);
    if (result >= 0) end_pauses_for(*connector);
    return result;
  }

  static void* dataset_create(void* self, const H5VL_loc_params_t* loc, const char* name,
                              hid_t lcpl, hid_t type, hid_t space, hid_t dcpl, hid_t dapl,
                              hid_t dxpl, void** req) {
    cache().store_encoded();
    forget_closed_datasets();
    if (name == nullptr) note_unlinked();
    void* made =
        PassThrough::dataset_create(self, loc, name, lcpl, type, space, dcpl, dapl, dxpl, req);
    if (made != nullptr) note_created(vol::Object::from(made), dcpl);
    return made;
  }

  static herr_t dataset_optional(void* self, H5VL_optional_args_t* args, hid_t dxpl, void** req) {
    if (!is_operation(H5VL_SUBCLS_DATASET, args->op_type))
      return PassThrough::dataset_optional(self, args, dxpl, req);
    operate_on_dataset(vol::Object::from(self), *args);
    return 0;
  }

  static herr_t dataset_close(void* self, hid_t dxpl, void** req) {
    vol::Object& object = vol::Object::from(self);
    carry_out_queue();
    cache().store_encoded();
    if (close_behind(object)) return 0;
    let_go(object);
    return PassThrough::dataset_close(self, dxpl, req);
  }

  static herr_t dataset_read(std::size_t count, void* dset[], hid_t mem_type[], hid_t mem_space[],
                             hid_t file_space[], hid_t dxpl, void* buf[], void** req) {
    if (splits(count, dset)) {
      for (std::size_t i = 0; i < count; ++i)
        if (dataset_read(1, &dset[i], &mem_type[i], &mem_space[i], &file_space[i], dxpl, &buf[i],
                         nullptr) < 0)
          return -1;
      return 0;
    }
    if (count == 1 && queue_read(vol::Object::from(dset[0]), mem_type[0], mem_space[0],
                                 file_space[0], dxpl, buf[0], req))
      return 0;
    carry_out_queue();
    if (count == 1 && read_chunks(vol::Object::from(dset[0]), mem_type[0], mem_space[0],
                                  file_space[0], dxpl, buf[0]) == Taken::done)
      return 0;
    if (count != 1) settle();
    return PassThrough::dataset_read(count, dset, mem_type, mem_space, file_space, dxpl, buf, req);
  }

  static herr_t dataset_write(std::size_t count, void* dset[], hid_t mem_type[], hid_t mem_space[],
                              hid_t file_space[], hid_t dxpl, const void* buf[], void** req) {
    if (splits(count, dset)) {
      for (std::size_t i = 0; i < count; ++i)
        if (dataset_write(1, &dset[i], &mem_type[i], &mem_space[i], &file_space[i], dxpl, &buf[i],
                          nullptr) < 0)
          return -1;
      return 0;
    }
    if (count == 1 && queue_write(vol::Object::from(dset[0]), mem_type[0], mem_space[0],
                                  file_space[0], dxpl, buf[0], req))
      return 0;
    carry_out_queue();
    if (count == 1 && write_chunks(vol::Object::from(dset[0]), mem_type[0], mem_space[0],
                                   file_space[0], dxpl, buf[0]) == Taken::done)
      return 0;
    if (count != 1) {
      settle();
      for (std::size_t i = 0; i < count; ++i) distrust(vol::Object::from(dset[i]), true);
    }
    std::optional<ProgramBuffers> buffers;
    mark_buffers(buffers, count, dset, mem_type, mem_space, file_space, dxpl, buf);
    return write_lent(count, dset, mem_type, mem_space, file_space, dxpl, buf, req);
  }

  static constexpr auto request_wait = &async::request_wait;
  static constexpr auto request_notify = &async::request_notify;
  static constexpr auto request_cancel = &async::request_cancel;
  static constexpr auto request_specific = &async::request_specific;
  static constexpr auto request_optional = &async::request_optional;
  static constexpr auto request_free = &async::request_free;

 private:
  // Callbacks in which HDF5 neither reads nor writes nor counts chunks, and which programs make
  // between the reads and writes of datasets.
  static constexpr bool leaves_chunks_alone(Callback callback) {
    switch (callback) {
      case Callback::attr_create:
      case Callback::attr_open:
      case Callback::attr_read:
      case Callback::attr_write:
      case Callback::attr_get:
      case Callback::attr_specific:
      case Callback::attr_close:
      case Callback::dataset_create:
      case Callback::dataset_open:
      case Callback::dataset_read:  // see to it themselves
      case Callback::dataset_write:
      case Callback::dataset_close:
      case Callback::group_create:
      case Callback::group_open:
      case Callback::group_close:
      case Callback::link_create:
      case Callback::link_get:
      case Callback::object_open:
      case Callback::introspect_get_conn_cls:
      case Callback::introspect_get_cap_flags:
      case Callback::introspect_opt_query:
      case Callback::request_wait:
      case Callback::request_notify:
      case Callback::request_cancel:
      case Callback::request_specific:
      case Callback::request_optional:
      case Callback::request_free:
      case Callback::token_cmp:
      case Callback::token_to_str:
      case Callback::token_from_str:
        return true;
      default:
        return false;
    }
  }

  template <typename... Args>
  static bool leaves_chunks_alone(const Args&... /*args*/) {
    return false;
  }
  static bool leaves_chunks_alone(void* const& /*self*/, H5VL_dataset_get_args_t* const& args,
                                  const hid_t& /*dxpl*/, void** const& /*req*/) {
    return args->op_type != H5VL_DATASET_GET_SPACE_STATUS &&
           args->op_type != H5VL_DATASET_GET_STORAGE_SIZE;
  }

  static bool leaves_chunks_alone(void* const& self, H5VL_dataset_specific_args_t* const& args,
                                  const hid_t& /*dxpl*/, void** const& /*req*/) {
    return args->op_type == H5VL_DATASET_SET_EXTENT &&
           only_grows(vol::Object::from(self), args->args.set_extent.size);
  }

  static bool leaves_chunks_alone(void* const& /*self*/, const H5VL_loc_params_t* const& /*loc*/,
                                  H5VL_link_specific_args_t* const& args, const hid_t& /*dxpl*/,
                                  void** const& /*req*/) {
    return args->op_type == H5VL_LINK_EXISTS;
  }

  // Of callbacks that carry out optional operations, ours among them.
  static constexpr H5VL_subclass_t kind_of(Callback callback) {
    if (callback == Callback::file_optional) return H5VL_SUBCLS_FILE;
    return callback == Callback::dataset_optional ? H5VL_SUBCLS_DATASET : H5VL_SUBCLS_NONE;
  }
  static bool is_ours(H5VL_subclass_t kind, void* /*self*/, const H5VL_optional_args_t* args,
                      hid_t /*dxpl*/, void** /*req*/) {
    return is_operation(kind, args->op_type);
  }

  template <typename... Args>
  static bool unlinks(const Args&... /*args*/) {
    return false;
  }
  static bool unlinks(void* const& /*self*/, const H5VL_loc_params_t* const& /*loc*/,
                      H5VL_link_specific_args_t* const& args, const hid_t& /*dxpl*/,
                      void** const& /*req*/) {
    return args->op_type == H5VL_LINK_DELETE;
  }
  static bool unlinks(void* const& /*self*/, const H5VL_loc_params_t* const& /*loc*/,
                      H5VL_object_specific_args_t* const& args, const hid_t& /*dxpl*/,
                      void** const& /*req*/) {
    return args->op_type == H5VL_OBJECT_CHANGE_REF_COUNT;
  }

  static bool changes_chunks(void* /*self*/, const H5VL_dataset_specific_args_t* args,
                             hid_t /*dxpl*/, void** /*req*/) {
    return args->op_type != H5VL_DATASET_FLUSH;
  }
  static bool changes_chunks(void* /*self*/, const H5VL_optional_args_t* /*args*/, hid_t /*dxpl*/,
                             void** /*req*/) {
    return true;
  }
  static bool changes_chunks(void* /*self*/, const H5VL_loc_params_t* /*loc*/,
                             const H5VL_object_specific_args_t* args, hid_t /*dxpl*/,
                             void** /*req*/) {
    return args->op_type == H5VL_OBJECT_REFRESH;
  }

  // Whether a call on several datasets is made one by one, for chunks that this layer takes over.
  static bool splits(std::size_t count, void* const dset[]) {
    return count > 1 && std::any_of(dset, dset + count, [](void* one) {
             return dataset_of(vol::Object::from(one)) != nullptr;
           });
  }

  // The object that a callback works on.
  template <typename... Rest>
  static const vol::Object& object_of(const void* self, const Rest&... /*rest*/) {
    return vol::Object::from(self);
  }

  static void stop_where_others_look(void* /*self*/, const H5VL_optional_args_t* args,
                                     hid_t /*dxpl*/, void** /*req*/) {
    // H5VL_NATIVE_FILE_SET_MPI_ATOMICITY, which only a parallel HDF5's headers have
    constexpr int kSetAtomicity = 27;
    if (args->op_type == H5VL_NATIVE_FILE_START_SWMR_WRITE) filters_off();
    // Whoever takes MPI's file may write and read by it. The report asks for it past this
    // connector.
    if (args->op_type == kSetAtomicity || args->op_type == H5VL_NATIVE_FILE_GET_VFD_HANDLE)
      stop_staging_over_mpi();
  }

  static void* opened(void* file, unsigned flags, bool created, hid_t fapl) {
    if (file == nullptr) return nullptr;
    const auto info = vol::info_of(fapl, layer());
    note_opened(vol::Object::from(file), flags, created, fapl, info->options);
    return file;
  }
};

}  // namespace headrace::async
