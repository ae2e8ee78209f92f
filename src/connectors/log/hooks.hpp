// What the layer does before HDF5 goes on with something else than raw data: which operations leave
// the log alone, which ones need all of it in the datasets, and which ones are refused.
#pragma once

#include <algorithm>
#include <optional>
#include <span>
#include <string>

#include "connectors/log/file/dataset.hpp"
#include "connectors/log/file/logged_file.hpp"
#include "connectors/log/opening/marker.hpp"
#include "connectors/log/serial/all_files.hpp"
#include "connectors/log/writing/boxes.hpp"
#include "hdf5/library_context.hpp"
#include "hdf5/quiet_errors.hpp"
#include "sidecar/marker_name.hpp"
#include "vol/dataset/told_addresses.hpp"
#include "vol/effects.hpp"
#include "vol/own_question.hpp"
#include "vol/pass_through.hpp"

namespace headrace::log_layout {

inline bool writes_boxes(const void* /*self*/, const H5VL_optional_args_t* args, hid_t /*dxpl*/,
                         void** /*req*/) {
  return is_operation(args->op_type);
}

// Elements keep their numbers when a dataset grows in its slowest dimension.
inline bool only_grows(void* self, const H5VL_dataset_specific_args_t* args, hid_t /*dxpl*/,
                       void** /*req*/) {
  return args->op_type == H5VL_DATASET_SET_EXTENT &&
         grows_at_its_end(vol::Object::from(self), args->args.set_extent.size);
}

inline LoggedFile* file_of(const void* self) {
  return LoggedFile::of(*vol::Object::from(self).connector);
}

inline void before_close(void* self, hid_t /*dxpl*/, void** /*req*/) {
  vol::extents_may_have_changed();
  if (LoggedFile* const file = file_of(self)) file->before_close(vol::Object::from(self));
}

inline LoggedFile::AfterClose after_close(const void* self) {
  LoggedFile* const file = file_of(self);
  return file == nullptr ? nullptr : file->after_close(vol::Object::from(self));
}

// Whether a call flushes a file.
inline bool before_flush(const void* self, const H5VL_file_specific_args_t* args, hid_t /*dxpl*/,
                         void** /*req*/) {
  if (args->op_type != H5VL_FILE_FLUSH) return false;
  if (LoggedFile* const file = file_of(self))
    file->before_flush(vol::Object::from(self), args->args.flush.obj_type);
  return true;
}

// The dataset of a file over MPI whose extent a call changes, so that its elements change their
// numbers: those keep them where it only grows in the slowest dimension.
inline Dataset* reshaped(void* self, const H5VL_dataset_specific_args_t* args) {
  if (args->op_type != H5VL_DATASET_SET_EXTENT) return nullptr;
  vol::Object& object = vol::Object::from(self);
  const LoggedFile* const file = file_of(self);
  Dataset* const dataset = file != nullptr && file->of_ranks() ? dataset_of(object) : nullptr;
  if (dataset == nullptr) return nullptr;
  const LibraryContext apart;
  return extends_at_end(*dataset, object, args->args.set_extent.size) ? nullptr : dataset;
}

// What HDF5 does with the raw data of a file that is not all in it, and is opened for reading.
template <typename... Rest>
void refuse_stored(const void* self, const Rest&... /*rest*/) {
  const LoggedFile* const file = file_of(self);
  if (file != nullptr && file->stored() != nullptr)
    throw Error("file " + file->path() +
                " has a log, which must be replayed first (headrace replay)");
}

// The data of a dataset must be in the file when a call returns, once its addresses are told.
inline void before_addresses_are_told(const vol::Object& dataset) {
  const LoggedFile* const file = LoggedFile::of(*dataset.connector);
  if (file != nullptr && !file->of_ranks() && file->logs()) vol::note_addresses_told(dataset);
}

// The names of files that a call opens, or looks at while they are not open here.
template <typename... Rest>
const char* name_in(const char* name, const Rest&... /*rest*/) {
  return name;
}
inline const char* name_in(const void* /*self*/, const H5VL_file_specific_args_t* args,
                           hid_t /*dxpl*/, void** /*req*/) {
  if (args->op_type == H5VL_FILE_IS_ACCESSIBLE) return args->args.is_accessible.filename;
  return args->op_type == H5VL_FILE_DELETE ? args->args.del.filename : nullptr;
}

// Programs that copy the attributes of a file have what they have read, which is all of its data:
// the copy must not name a log.
inline void refuse_marker(const char* name) {
  if (name != nullptr && sidecar::is_marker(name))
    throw Error(std::string("attribute ") + name +
                " says that a file has a log, which must be replayed first (headrace replay)");
}
template <typename... Rest>
void refuse_new_marker(const void* /*self*/, const H5VL_loc_params_t* /*loc*/, const char* name,
                       const Rest&... /*rest*/) {
  refuse_marker(name);
}
template <typename... Rest>
void refuse_new_marker(const void* /*self*/, const H5VL_loc_params_t* /*loc*/,
                       const H5VL_attr_specific_args_t* args, const Rest&... /*rest*/) {
  if (args->op_type == H5VL_ATTR_RENAME) refuse_marker(args->args.rename.new_name);
}

inline void refuse_mounted(void* self, const H5VL_group_specific_args_t* args, hid_t /*dxpl*/,
                           void** /*req*/) {
  if (args->op_type != H5VL_GROUP_MOUNT) return;
  refuse_stored(self);
  refuse_stored(args->args.mount.child_file);
}

// Others than H5Dread and H5Dwrite that reach raw data.
inline void require_agreed(const void* self) {
  if (const LoggedFile* const file = file_of(self)) file->require_agreed();
}
inline void require_chunks(const void* self, const H5VL_optional_args_t* /*args*/, hid_t /*dxpl*/,
                           void** /*req*/) {
  require_agreed(self);
  require_no_log_elsewhere(vol::Object::from(self));
}
inline void require_source(const void* self, const H5VL_loc_params_t* loc, const char* name,
                           const void* /*to*/, const H5VL_loc_params_t* /*to_loc*/,
                           const char* /*to_name*/, hid_t /*ocpypl*/, hid_t /*lcpl*/,
                           hid_t /*dxpl*/, void** /*req*/) {
  require_agreed(self);
  require_no_log_elsewhere(vol::Object::from(self), loc->obj_type, name);
}
// The group that a link is deleted from. A dataset that goes with it may be one that a log is for.
inline void require_group(const void* self, const H5VL_loc_params_t* loc,
                          const H5VL_link_specific_args_t* args, hid_t /*dxpl*/, void** /*req*/) {
  if (args->op_type != H5VL_LINK_DELETE) return;
  std::string group = loc->type == H5VL_OBJECT_BY_IDX ? loc->loc_data.loc_by_idx.name
                                                      : loc->loc_data.loc_by_name.name;
  if (loc->type == H5VL_OBJECT_BY_NAME) {
    group.erase(group.find_last_not_of('/') + 1);
    group.erase(group.rfind('/') + 1);
  }
  require_no_log_elsewhere(vol::Object::from(self), loc->obj_type,
                           group.empty() ? "." : group.c_str());
}
inline void require_extent_elsewhere(const void* self, const H5VL_dataset_specific_args_t* args,
                                     hid_t /*dxpl*/, void** /*req*/) {
  if (args->op_type != H5VL_DATASET_SET_EXTENT) return;
  require_agreed(self);
  require_no_log_elsewhere(vol::Object::from(self));
}

// Before HDF5 reads datasets it gets what is logged of them; before it writes to them, nothing is
// logged of them any more: a log that is replayed once more must not undo that.
inline void before_reads(std::span<void*> datasets) {
  if (!anything_pending()) return;
  for (void* one : datasets) replay(touched_by(vol::Object::from(one)));
}
inline void before_writes(std::span<void*> datasets) {
  if (!anything_pending()) return;
  for (void* one : datasets) drain(touched_by(vol::Object::from(one)));
}

inline void require_usable(std::span<void*> datasets) {
  for (void* one : datasets) {
    require_no_log_elsewhere(vol::Object::from(one));
    if (const LoggedFile* const file = file_of(one)) file->require_whole();
  }
}

// What HDF5 is to find in the file before it carries out a call, for an object or for none.
void prepare(vol::Callback callback, const vol::Effects& effects, vol::Object* object);

inline void prepare_mounted(const vol::Effects& effects, void* /*self*/,
                            const H5VL_group_specific_args_t* args, hid_t /*dxpl*/,
                            void** /*req*/) {
  if (args->op_type != H5VL_GROUP_MOUNT) return;
  void* const child = args->args.mount.child_file;
  if (LoggedFile* const file = file_of(child))
    file->prepare(vol::Callback::group_specific, effects, vol::Object::from(child));
}

}  // namespace headrace::log_layout
