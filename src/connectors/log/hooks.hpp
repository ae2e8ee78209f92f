// What the layer does before HDF5 goes on with something else than raw data: which operations leave
// the log alone, which ones need all of it in the datasets, and which ones are refused.
#pragma once

#include <algorithm>
#include <optional>
#include <span>
#include <string>

#include "connectors/log/file/all_files.hpp"
#include "connectors/log/file/dataset.hpp"
#include "connectors/log/file/file.hpp"
#include "connectors/log/opening/marker.hpp"
#include "connectors/log/writing/boxes.hpp"
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

// The file of an object behind an external link has this connector, too. What cannot be settled
// keeps the file open: the program, or HDF5 at its end, closes it once more.
inline void close_file(void* self, hid_t /*dxpl*/, void** /*req*/) {
  const vol::Object& object = vol::Object::from(self);
  File* const file = File::of(*object.connector);
  if (file != nullptr && file->is(object)) {
    const Aside aside;
    retry(file->number());
    file->close(false);
  }
  vol::extents_may_have_changed();
  if (file != nullptr && file->broken()) throw file->broken_error();
}

inline std::optional<sidecar::ClosedFile> take_closed(const vol::Object& object) {
  File* const file = File::of(*object.connector);
  return file != nullptr && file->is(object) ? file->take_closed() : std::nullopt;
}

// By its number: the file of an object behind an external link is another one. Throws Error.
inline unsigned long number_of_file(const vol::Object& object, H5I_type_t type) {
  const File& file = *File::of(*object.connector);
  if (type == H5I_FILE && file.is(object)) return file.number();
  const Aside aside;
  if (type == H5I_FILE) {
    const auto number = vol::number_of({object.under, object.connector->id()});
    return number ? *number : file.number();
  }
  H5O_info2_t info{};
  H5VL_object_get_args_t args{H5VL_OBJECT_GET_INFO, {}};
  args.args.get_info = {H5O_INFO_BASIC, &info};
  const H5VL_loc_params_t self{type, H5VL_OBJECT_BY_SELF, {}};
  if (h5.VLobject_get(object.under, &self, object.connector->id(), &args, h5.transfer_list.get(),
                      nullptr) < 0)
    throw Error("HDF5 does not tell which file it is to flush");
  return info.fileno;
}

// Whether a call flushes a file. What has failed before is tried once more.
inline bool before_flush(const void* self, const H5VL_file_specific_args_t* args, hid_t /*dxpl*/,
                         void** /*req*/) {
  if (args->op_type != H5VL_FILE_FLUSH) return false;
  const vol::Object& object = vol::Object::from(self);
  const File* const file = File::of(*object.connector);
  if (file != nullptr) retry(file->number());
  if (file != nullptr && anything_pending())
    prepare_flush(Touched::file(number_of_file(object, args->args.flush.obj_type)));
  return true;
}

inline void keep_flushed(const vol::Object& object, H5I_type_t type) {
  if (File::of(*object.connector) != nullptr && anything_pending())
    keep_all(number_of_file(object, type));
}

inline void require_settled(const void* self) {
  const File* const file = File::of(*vol::Object::from(self).connector);
  if (file != nullptr && file->broken()) throw file->broken_error();
}

// What HDF5 does with the raw data of a file that is not all in it, and is opened for reading.
template <typename... Rest>
void refuse_stored(const void* self, const Rest&... /*rest*/) {
  const File* const file = File::of(*vol::Object::from(self).connector);
  if (file != nullptr && file->stored() != nullptr)
    throw Error("file " + file->path() +
                " has a log, which must be replayed first (headrace replay)");
}

// The data of a dataset must be in the file when a call returns, once its addresses are told.
inline void before_addresses_are_told(const vol::Object& dataset) {
  const File* const file = File::of(*dataset.connector);
  if (file != nullptr && file->logs()) vol::note_addresses_told(dataset);
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
inline void require_whole(const void* self) {
  if (const File* const file = File::of(*vol::Object::from(self).connector)) file->require_whole();
}
inline void require_chunks(const void* self, const H5VL_optional_args_t* /*args*/, hid_t /*dxpl*/,
                           void** /*req*/) {
  require_whole(self);
  require_no_log_elsewhere(vol::Object::from(self));
}
inline void require_source(const void* self, const H5VL_loc_params_t* loc, const char* name,
                           const void* /*to*/, const H5VL_loc_params_t* /*to_loc*/,
                           const char* /*to_name*/, hid_t /*ocpypl*/, hid_t /*lcpl*/,
                           hid_t /*dxpl*/, void** /*req*/) {
  require_whole(self);
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
  require_whole(self);
  require_no_log_elsewhere(vol::Object::from(self));
}

// Before HDF5 reads datasets it gets what is logged of them; before it writes to them, nothing is
// logged of them any more: a log that is given to HDF5 once more must not undo that.
inline void before_reads(std::span<void*> datasets) {
  if (!anything_pending()) return;
  for (void* one : datasets) give(touched_by(vol::Object::from(one)));
}
inline void before_writes(std::span<void*> datasets) {
  if (!anything_pending()) return;
  for (void* one : datasets) settle(touched_by(vol::Object::from(one)));
}

// What HDF5 is to find in the file before it carries out a call.
void prepare(const vol::Effects& effects, vol::Object* object);

inline void require_usable(std::span<void*> datasets) {
  for (void* one : datasets) {
    require_no_log_elsewhere(vol::Object::from(one));
    if (const File* const file = File::of(*vol::Object::from(one).connector)) file->require_whole();
  }
}

}  // namespace headrace::log_layout
