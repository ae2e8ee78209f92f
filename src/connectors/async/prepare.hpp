// What is done before HDF5 does what a callback asks for: it finds all that the connector holds in
// the file, where it could look at it. The application's thread only.
#pragma once

#include "connectors/async/control.hpp"
#include "connectors/async/dataset.hpp"
#include "connectors/async/file_state.hpp"
#include "connectors/async/filters.hpp"
#include "connectors/async/queue.hpp"
#include "connectors/async/raw_writes.hpp"
#include "drivers/async/mpi_file.hpp"
#include "hdf5/quiet_errors.hpp"
#include "vol/raw_data.hpp"
#include "vol/told_addresses.hpp"

namespace headrace::async {

template <typename... Args>
bool leaves_chunks_alone(const Args&... args) {
  return vol::leaves_raw_data_alone(args...);
}
inline bool leaves_chunks_alone(void* const& self, H5VL_dataset_specific_args_t* const& args,
                                const hid_t& /*dxpl*/, void** const& /*req*/) {
  return args->op_type == H5VL_DATASET_SET_EXTENT &&
         only_grows(vol::Object::from(self), args->args.set_extent.size);
}

// Of callbacks that carry out optional operations, ours among them.
constexpr H5VL_subclass_t kind_of(vol::Callback callback) {
  if (callback == vol::Callback::file_optional) return H5VL_SUBCLS_FILE;
  return callback == vol::Callback::dataset_optional ? H5VL_SUBCLS_DATASET : H5VL_SUBCLS_NONE;
}
inline bool is_ours(H5VL_subclass_t kind, void* /*self*/, const H5VL_optional_args_t* args,
                    hid_t /*dxpl*/, void** /*req*/) {
  return is_operation(kind, args->op_type);
}

inline bool changes_chunks(void* /*self*/, const H5VL_dataset_specific_args_t* args, hid_t /*dxpl*/,
                           void** /*req*/) {
  return args->op_type != H5VL_DATASET_FLUSH;
}
inline bool changes_chunks(void* /*self*/, const H5VL_optional_args_t* /*args*/, hid_t /*dxpl*/,
                           void** /*req*/) {
  return true;
}
inline bool changes_chunks(void* /*self*/, const H5VL_loc_params_t* /*loc*/,
                           const H5VL_object_specific_args_t* args, hid_t /*dxpl*/,
                           void** /*req*/) {
  return args->op_type == H5VL_OBJECT_REFRESH;
}

// The object that a callback works on.
template <typename... Rest>
const vol::Object& object_of(const void* self, const Rest&... /*rest*/) {
  return vol::Object::from(self);
}

// The data of a dataset must be in the file when a call returns, once its addresses are told.
inline void before_addresses_are_told(const void* self, const H5VL_optional_args_t* args,
                                      hid_t /*dxpl*/, void** /*req*/) {
  if (!vol::tells_addresses(*args)) return;
  const vol::Object& dataset = vol::Object::from(self);
  const Aside aside;
  vol::Identity identity{};
  if (!vol::read_identity(dataset, identity)) return;
  const bool writable = write_raw_at_once(identity.file);
  if (writable || may_write(*dataset.connector)) vol::note_addresses_told(dataset);
}

inline void stop_where_others_look(void* self, const H5VL_optional_args_t* args, hid_t /*dxpl*/,
                                   void** /*req*/) {
  // H5VL_NATIVE_FILE_SET_MPI_ATOMICITY, which only a parallel HDF5's headers have
  constexpr int kSetAtomicity = 27;
  if (args->op_type == H5VL_NATIVE_FILE_START_SWMR_WRITE) filters_off();
  // Whoever takes the descriptor, or MPI's file, may write and read by it. The report asks for it
  // past this connector.
  const bool gives_handle = args->op_type == H5VL_NATIVE_FILE_GET_VFD_HANDLE;
  if (args->op_type == kSetAtomicity || gives_handle) stop_staging_over_mpi();
  if (gives_handle) filters_off(*vol::Object::from(self).connector);
}

// Whatever HDF5 does next, it finds the chunks that this connector holds in the file.
template <vol::Callback callback, typename... Args>
void prepare_for(const Args&... args) {
  if constexpr (callback == vol::Callback::dataset_close || callback == vol::Callback::group_close)
    settle_before_close();
  if constexpr (callback == vol::Callback::dataset_specific) carry_out_queue();
  if constexpr (!vol::leaves_raw_data_alone(callback)) {
    if (leaves_chunks_alone(args...)) return;
    if constexpr (kind_of(callback) != H5VL_SUBCLS_NONE)
      if (is_ours(kind_of(callback), args...)) return;
    carry_out_queue();
    settle();
    settle_mpi_files();
    if (vol::unlinks(args...)) note_unlinked();
    if constexpr (callback == vol::Callback::dataset_specific ||
                  callback == vol::Callback::dataset_optional ||
                  callback == vol::Callback::object_specific)
      if (changes_chunks(args...))
        distrust(object_of(args...), callback == vol::Callback::dataset_optional);
    if constexpr (callback == vol::Callback::object_copy || callback == vol::Callback::file_close)
      forget_closed_datasets();
    if constexpr (callback == vol::Callback::file_close) note_closing(object_of(args...));
    if constexpr (callback == vol::Callback::file_optional) stop_where_others_look(args...);
    if constexpr (callback == vol::Callback::dataset_optional) before_addresses_are_told(args...);
  }
}

}  // namespace headrace::async
