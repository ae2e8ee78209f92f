// What is done before HDF5 does what a callback asks for: it finds all that the connector holds in
// the file, where it could look at it. The application's thread only.
#pragma once

#include "connectors/async/chunks/cache.hpp"
#include "connectors/async/chunks/chunk_maps.hpp"
#include "connectors/async/control.hpp"
#include "connectors/async/dataset.hpp"
#include "connectors/async/file_state.hpp"
#include "connectors/async/mpi_staging.hpp"
#include "connectors/async/requests/queue.hpp"
#include "connectors/async/touched.hpp"
#include "drivers/async/mpi_file.hpp"
#include "hdf5/quiet_errors.hpp"
#include "vol/dataset/told_addresses.hpp"
#include "vol/effects.hpp"
#include "vol/own_question.hpp"

namespace headrace::async {

inline bool grows(void* self, const H5VL_dataset_specific_args_t* args, hid_t /*dxpl*/,
                  void** /*req*/) {
  return args->op_type == H5VL_DATASET_SET_EXTENT &&
         only_grows(vol::Object::from(self), args->args.set_extent.size);
}

inline bool sets_extent(void* /*self*/, const H5VL_dataset_specific_args_t* args, hid_t /*dxpl*/,
                        void** /*req*/) {
  return args->op_type == H5VL_DATASET_SET_EXTENT;
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

// The data of a dataset must be in the file when a call returns, once its addresses are told.
inline void before_addresses_are_told(const vol::Object& dataset) {
  const PrivateErrors own;
  vol::Identity identity{};
  if (!vol::read_identity(dataset, identity)) return;
  const bool writable = write_raw_at_once(identity.file);
  if (writable || may_write(*dataset.connector)) vol::note_addresses_told(dataset);
}

// Whoever takes the descriptor, or MPI's file, may write and read by it. The report asks for it
// past this connector, and a layer above for its own driver.
inline void stop_where_others_look(const vol::Effects& effects, const vol::Object* file) {
  const bool taken =
      effects.any(vol::effect::gives_handle) && vol::OwnQuestion::current() == nullptr;
  if (effects.any(vol::effect::lets_others_read)) filters_off();
  if (taken || effects.any(vol::effect::makes_atomic)) stop_staging_over_mpi();
  if (taken) filters_off(*file->connector);
}

// After these HDF5, or the program, may find something else in a dataset's chunks than we have.
constexpr unsigned kChanges = vol::effect::writes | vol::effect::resizes | vol::effect::refreshes |
                              vol::effect::tells_addresses;

constexpr bool sees_to_it_itself(vol::Callback callback) {
  using vol::Callback;
  return callback == Callback::dataset_read || callback == Callback::dataset_write ||
         callback == Callback::dataset_close || callback == Callback::group_close;
}

// Whether a call is made for a file, but with another object of it.
template <typename... Args>
bool is_of_object(const Args&... /*args*/) {
  return false;
}
inline bool is_of_object(void* const& /*self*/, H5VL_file_specific_args_t* const& args,
                         const hid_t& /*dxpl*/, void** const& /*req*/) {
  return args->op_type == H5VL_FILE_FLUSH && args->args.flush.obj_type != H5I_FILE;
}

// Whatever HDF5 does next, it finds the chunks that this connector holds in the file.
template <vol::Callback callback, typename... Args>
void prepare_for(const Args&... args) {
  using vol::Callback;
  const vol::Effects effects = vol::effects_of<callback>(args...);
  if constexpr (callback == Callback::dataset_close || callback == Callback::group_close)
    drain_before_close();
  if constexpr (callback == Callback::dataset_specific) {
    carry_out_queue();
    // HDF5 would fail on the rank that cannot write, after others have taken the extent.
    if (sets_extent(args...)) drain_together(*vol::object_of(args...)->connector);
  }
  if (sees_to_it_itself(callback) || effects.what == vol::effect::nothing) return;
  if constexpr (callback == Callback::dataset_specific)
    if (grows(args...)) return;
  if constexpr (kind_of(callback) != H5VL_SUBCLS_NONE)
    if (is_ours(kind_of(callback), args...)) return;
  carry_out_queue();
  vol::Object* const object = vol::object_of(args...);
  const bool of_file = effects.reach == vol::Reach::file && object != nullptr;
  const vol::Touched touched = is_of_object(args...) ? vol::Touched() : touched_by(effects, object);
  store_chunks(touched, of_file ? object->connector.get() : nullptr);
  drain_mpi_files();
  if constexpr (callback == Callback::dataset_specific || callback == Callback::dataset_optional ||
                callback == Callback::object_specific)
    if (effects.any(kChanges)) forget_touched(touched, callback == Callback::dataset_optional);
  if (effects.any(vol::effect::refreshes)) forget_maps();
  if constexpr (callback == Callback::object_copy || callback == Callback::file_close)
    forget_closed_datasets();
  if constexpr (callback == Callback::file_close) note_closing(*object);
  if (!effects.any(vol::effect::unknown)) {
    if (effects.any(vol::effect::unlinks)) note_unlinked();
    if (effects.any(vol::effect::mounts)) note_mounted();
    stop_where_others_look(effects, object);
  }
  if constexpr (callback == Callback::dataset_optional)
    if (effects.any(vol::effect::tells_addresses)) before_addresses_are_told(*object);
}

}  // namespace headrace::async
