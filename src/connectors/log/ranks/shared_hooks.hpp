// What ranks do before HDF5 carries out a call that they make together.
#pragma once

#include "connectors/log/file/dataset.hpp"
#include "connectors/log/ranks/shared_file.hpp"
#include "connectors/log/ranks/shared_transfer.hpp"
#include "hdf5/library_context.hpp"
#include "vol/callbacks.hpp"
#include "vol/effects.hpp"

namespace headrace::log_layout::shared {

template <typename... Rest>
SharedFile* file_of(const void* self, const Rest&... /*rest*/) {
  return self == nullptr ? nullptr : SharedFile::of(*vol::Object::from(self).connector);
}

inline void before_file_specific(const void* self, const H5VL_file_specific_args_t* args,
                                 hid_t /*dxpl*/, void** /*req*/) {
  if (args->op_type != H5VL_FILE_FLUSH) return;
  if (SharedFile* const file = file_of(self)) file->settle_or_keep_at_flush();
}

// The program may have the file by other ids; H5Iget_file_id has made those that are not `opened`,
// for one rank alone perhaps.
inline void before_file_close(const void* self, hid_t /*dxpl*/, void** /*req*/) {
  const bool opened = !vol::Object::from(self).state.empty();
  SharedFile* const file = file_of(self);
  if (file != nullptr && opened) file->stop_at_close(false);
}

// The dataset whose extent a call changes, unless that only grows in the slowest dimension: its
// elements keep their numbers then.
inline SharedDataset* reshaped(void* self, const H5VL_dataset_specific_args_t* args) {
  if (args->op_type != H5VL_DATASET_SET_EXTENT) return nullptr;
  vol::Object& object = vol::Object::from(self);
  SharedDataset* const dataset = shared_dataset_of(object);
  const LibraryContext apart;
  const bool grows =
      dataset == nullptr || extends_at_end(*dataset->elements, object, args->args.set_extent.size);
  return grows ? nullptr : dataset;
}

inline void before_dataset_specific(void* self, const H5VL_dataset_specific_args_t* args,
                                    hid_t /*dxpl*/, void** /*req*/) {
  SharedDataset* const dataset = reshaped(self, args);
  if (dataset == nullptr) return;
  // Chunks that are cut stay changed in the memory of each rank, which write_cut_chunks() is for.
  // It does not help those with filters.
  if (dataset->filtered)
    dataset->file->stop();
  else
    dataset->file->settle();
}

inline void before_group_specific(const void* self, const H5VL_group_specific_args_t* args,
                                  hid_t /*dxpl*/, void** /*req*/) {
  if (args->op_type != H5VL_GROUP_MOUNT) return;
  for (const void* one : {self, static_cast<const void*>(args->args.mount.child_file)})
    if (SharedFile* const file = file_of(one)) file->stop();
}

// Most calls are a rank's own, or leave raw data alone.
template <vol::Callback callback, typename... Args>
void before(const vol::Effects& effects, const Args&... args) {
  using vol::Callback;
  if constexpr (callback == Callback::file_specific) before_file_specific(args...);
  if constexpr (callback == Callback::file_close) before_file_close(args...);
  if constexpr (callback == Callback::dataset_specific) before_dataset_specific(args...);
  if constexpr (callback == Callback::group_specific) before_group_specific(args...);
  constexpr unsigned kMatters = vol::effect::renames | vol::effect::makes_atomic |
                                vol::effect::unlinks | vol::effect::tells_addresses |
                                vol::effect::reads_stored;
  if (callback != Callback::object_copy && !effects.any(kMatters)) return;
  vol::Object* const object = vol::object_of(args...);
  SharedFile* const file = object == nullptr ? nullptr : SharedFile::of(*object->connector);
  if (file == nullptr) return;
  const bool known = !effects.any(vol::effect::unknown);
  if (callback == Callback::object_copy) file->settle();
  if (known && effects.any(vol::effect::renames)) file->forget_names();
  // Ranks see what others have written when it is written, from then on. The token of what is
  // deleted may become a new dataset's.
  if (known && effects.any(vol::effect::makes_atomic | vol::effect::unlinks)) file->stop();
  if constexpr (callback == Callback::dataset_optional)
    if (effects.any(vol::effect::tells_addresses | vol::effect::reads_stored))
      require_none_logged(*object);
}

}  // namespace headrace::log_layout::shared
