// What the layer does before HDF5 goes on with something else than raw data: which operations leave
// the log alone, which ones need all of it in the datasets, and which ones are refused.
#pragma once

#include <algorithm>
#include <optional>
#include <span>
#include <string>

#include "connectors/log/all_files.hpp"
#include "connectors/log/boxes.hpp"
#include "connectors/log/dataset.hpp"
#include "connectors/log/file.hpp"
#include "connectors/log/marker.hpp"
#include "hdf5/quiet_errors.hpp"
#include "vol/own_question.hpp"
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

// Of what is open, and how; h5py asks for it before it closes a file.
inline bool leaves_log_alone(void* const& /*self*/, H5VL_file_get_args_t* const& /*args*/,
                             const hid_t& /*dxpl*/, void** const& /*req*/) {
  return true;
}

inline bool writes_boxes(const void* /*self*/, const H5VL_optional_args_t* args, hid_t /*dxpl*/,
                         void** /*req*/) {
  return is_operation(args->op_type);
}

// The file of an object behind an external link has this connector, too. What cannot be settled
// keeps the file open: the program, or HDF5 at its end, closes it once more.
inline void close_file(void* self, hid_t /*dxpl*/, void** /*req*/) {
  settle_short_lived();
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

inline std::optional<Closed> take_closed(const vol::Object& object) {
  File* const file = File::of(*object.connector);
  return file != nullptr && file->is(object) ? file->take_closed() : std::nullopt;
}

// The file of an object behind an external link is another one.
inline void keep_flushed(const vol::Object& object, H5I_type_t type) {
  const File* const file = File::of(*object.connector);
  if (file == nullptr || !anything_pending()) return;
  if (type == H5I_FILE) return keep_all(file->number());
  const Aside aside;
  H5O_info2_t info{};
  H5VL_object_get_args_t args{H5VL_OBJECT_GET_INFO, {}};
  args.args.get_info = {H5O_INFO_BASIC, &info};
  const H5VL_loc_params_t self{type, H5VL_OBJECT_BY_SELF, {}};
  if (h5.VLobject_get(object.under, &self, object.connector->id(), &args, h5.transfer_list.get(),
                      nullptr) < 0)
    throw Error("HDF5 does not tell which file it has flushed");
  keep_all(info.fileno);
}

template <typename... Args>
void retry_file(const Args&... /*args*/) {}
inline void retry_file(void* const& self, H5VL_file_specific_args_t* const& /*args*/,
                       const hid_t& /*dxpl*/, void** const& /*req*/) {
  if (const File* const file = File::of(*vol::Object::from(self).connector)) retry(file->number());
}
inline void require_settled(const void* self) {
  const File* const file = File::of(*vol::Object::from(self).connector);
  if (file != nullptr && file->broken()) throw file->broken_error();
}

template <typename... Args>
bool flushes_file(const Args&... /*args*/) {
  return false;
}
inline bool flushes_file(void* const& /*self*/, H5VL_file_specific_args_t* const& args,
                         const hid_t& /*dxpl*/, void** const& /*req*/) {
  return args->op_type == H5VL_FILE_FLUSH;
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
inline void before_addresses_are_told(void* self, const H5VL_optional_args_t* args, hid_t /*dxpl*/,
                                      void** /*req*/) {
  const vol::Object& dataset = vol::Object::from(self);
  const File* const file = File::of(*dataset.connector);
  if (file != nullptr && file->logs() && vol::tells_addresses(*args))
    vol::note_addresses_told(dataset);
}

inline void prepare_optional(void* self, const H5VL_optional_args_t* args, hid_t /*dxpl*/,
                             void** /*req*/) {
  const bool swmr = args->op_type == H5VL_NATIVE_FILE_START_SWMR_WRITE;
  const bool image = args->op_type == H5VL_NATIVE_FILE_GET_FILE_IMAGE;
  if (image) refuse_stored(self);
  if (swmr || image) settle_and_unmark();  // an image is another file
  if (swmr) log_nothing_more();            // readers see all, through whatever id of the file
  // Whoever has the descriptor may read and write by it.
  File* const file = File::of(*vol::Object::from(self).connector);
  const bool handle = args->op_type == H5VL_NATIVE_FILE_GET_VFD_HANDLE;
  if (handle && file != nullptr && !vol::OwnQuestion::is_asked()) file->stop();
}

// Programs that copy the attributes of a file have what they have read, which is all of its data:
// the copy must not name a log.
inline void refuse_marker(const char* name) {
  if (name != nullptr && is_marker(name))
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

// Of mounted files HDF5 finds the marker, and the datasets by their names, in another one.
inline void leave_mounted_files(void* self, const H5VL_group_specific_args_t* args, hid_t /*dxpl*/,
                                void** /*req*/) {
  if (args->op_type != H5VL_GROUP_MOUNT) return;
  settle_and_unmark();
  log_nothing_more();
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

// Before HDF5 writes to datasets. A log that is given to HDF5 once more must not undo that.
inline void make_way(std::span<void*> datasets) {
  if (anything_pending() && std::ranges::any_of(datasets, &may_be_logged))
    settle();
  else
    give();
}

inline void require_usable(std::span<void*> datasets) {
  for (void* one : datasets) {
    require_no_log_elsewhere(vol::Object::from(one));
    if (const File* const file = File::of(*vol::Object::from(one).connector)) file->require_whole();
  }
}

}  // namespace headrace::log_layout
