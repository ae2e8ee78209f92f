#include "layers/log/connector/coherence.hpp"

#include <string>

#include "hdf5/library_context.hpp"
#include "hdf5/quiet_errors.hpp"
#include "layers/log/connector/boxes.hpp"
#include "layers/log/connector/opening/marker.hpp"
#include "layers/log/connector/ranks/transfers.hpp"
#include "sidecar/marker_name.hpp"
#include "vol/dataset/told_addresses.hpp"

namespace headrace::log_layout {
namespace {

using vol::Callback;
using vol::coherence::Call;

LoggedFile* file_of_call(const Call& call) {
  return call.object == nullptr ? nullptr : LoggedFile::of(*call.object->connector);
}

void refuse_marker(const char* name) {
  if (name != nullptr && sidecar::is_marker(name))
    throw Error(std::string("attribute ") + name +
                " says that a file has a log, which must be replayed first (headrace replay)");
}

// Of a file that is not all there, and is opened for reading.
void refuse_stored(const void* self) {
  const LoggedFile* const file = file_of(self);
  if (file != nullptr && file->has_stored())
    throw Error("file " + file->path() +
                " has a log, which must be replayed first (headrace replay)");
}

// For others than H5Dread and H5Dwrite that reach raw data.
void require_agreed(const void* self) {
  if (const LoggedFile* const file = file_of(self)) file->require_agreed();
}

// The dataset of a file over MPI that gets an extent by which its elements change their numbers:
// those keep them where it only grows in the slowest dimension.
Dataset* renumbered(vol::Object& object, const hsize_t* extent) {
  const LoggedFile* const file = file_of(&object);
  Dataset* const dataset =
      extent != nullptr && file != nullptr && file->of_ranks() ? dataset_of(object) : nullptr;
  if (dataset == nullptr) return nullptr;
  const LibraryContext apart;
  return extends_at_end(*dataset, object, extent) ? nullptr : dataset;
}

// The group that a link is deleted from, as seen from the call's object.
std::string group_of_link(const H5VL_loc_params_t& place) {
  std::string group = place.type == H5VL_OBJECT_BY_IDX ? place.loc_data.loc_by_idx.name
                                                       : place.loc_data.loc_by_name.name;
  if (place.type == H5VL_OBJECT_BY_NAME) {
    group.erase(group.find_last_not_of('/') + 1);
    group.erase(group.rfind('/') + 1);
  }
  return group.empty() ? "." : group;
}

}  // namespace

// Names may lead anywhere. Who has a file by an object behind an external link has the connector of
// another one.
Touched Coherence::touched(const Call& call) {
  const LoggedFile* const file = file_of_call(call);
  if (file == nullptr || file->of_ranks()) return {};
  if (call.effects.reach == vol::Reach::file)
    return file->is(*call.object) ? Touched::file(file->number()) : Touched();
  // What it takes to know a dataset is more than HDF5 takes for most calls.
  if (call.effects.reach != vol::Reach::object || !anything_to_publish()) return {};
  return touched_by(*call.object);
}

void Coherence::publish(const Call& call, const Touched& what, Strength strength) {
  switch (strength) {
    case Strength::none:
      break;
    case Strength::nameless:
      drain_before_names_change();
      break;
    case Strength::seen:
      replay(what);
      break;
    case Strength::emptied:
      drain(what);
      break;
    case Strength::unmarked:
      drain_and_unmark(what);
      break;
  }
  LoggedFile* const file = file_of_call(call);
  if (file != nullptr && call.surely(vol::effect::copies)) file->publish_together();
}

void Coherence::forget(const Call& call, const Touched& /*what*/) {
  if (call.effects.any(vol::effect::resizes | vol::effect::refreshes))
    vol::extents_may_have_changed();
}

void Coherence::stop(const Call& call) {
  if (call.effects.any(vol::effect::lets_others_read | vol::effect::mounts)) log_nothing_more();
  if (LoggedFile* const file = file_of_call(call)) file->stop_before(call.effects);
}

bool Coherence::is_own(H5VL_subclass_t kind, int operation) {
  return kind == H5VL_SUBCLS_DATASET && is_operation(operation);
}

// The data must be in the file when the call returns.
void Coherence::address_told(const vol::Object& dataset) {
  const LoggedFile* const file = LoggedFile::of(*dataset.connector);
  if (file != nullptr && !file->of_ranks() && file->logs()) vol::note_addresses_told(dataset);
}

Coherence::After Coherence::flushing(const vol::Object& object, H5I_type_t type) {
  LoggedFile* const file = file_of(&object);
  if (file == nullptr) return {};
  file->before_flush(object, type);
  return [file, &object, type](bool done) {
    if (done) file->after_flush(object, type);
  };
}

Coherence::After Coherence::closing(const vol::Object& object) {
  vol::extents_may_have_changed();
  LoggedFile* const file = file_of(&object);
  if (file == nullptr) return {};
  file->before_close(object);
  return file->after_close(object);
}

Coherence::After Coherence::reshaping(vol::Object& object, const hsize_t* extent) {
  Dataset* const dataset = renumbered(object, extent);
  if (dataset != nullptr) dataset->file->before_reshape(*dataset);
  return [dataset](bool done) {
    vol::extents_may_have_changed();
    if (!done) replay_again();
    if (dataset != nullptr) dataset->file->after_reshape(done);
  };
}

void Coherence::refuse(const Arguments<Callback::attr_create>& args) { refuse_marker(args.name); }

void Coherence::refuse(const Arguments<Callback::attr_specific>& args) {
  if (args.operation->op_type == H5VL_ATTR_RENAME)
    refuse_marker(args.operation->args.rename.new_name);
}

void Coherence::refuse(const Arguments<Callback::object_copy>& args) {
  refuse_stored(args.from);
  require_agreed(args.from);
  require_no_log_elsewhere(vol::Object::from(args.from), args.from_place->obj_type, args.from_name);
}

void Coherence::refuse(const Arguments<Callback::file_optional>& args) {
  if (vol::coherence::call_of(args).surely(vol::effect::copies_file)) refuse_stored(args.object);
}

void Coherence::refuse(const Arguments<Callback::dataset_optional>& args) {
  constexpr unsigned kPast = vol::effect::tells_addresses | vol::effect::reads_stored;
  vol::Object& dataset = vol::Object::from(args.object);
  const LoggedFile* const file = file_of(args.object);
  refuse_stored(args.object);
  if (file != nullptr && file->of_ranks() && vol::effects_of(args).any(kPast))
    require_none_logged(dataset);
  require_agreed(args.object);
  require_no_log_elsewhere(dataset);
}

void Coherence::refuse(const Arguments<Callback::dataset_specific>& args) {
  if (args.operation->op_type != H5VL_DATASET_SET_EXTENT) return;
  require_agreed(args.object);
  require_no_log_elsewhere(vol::Object::from(args.object));
}

void Coherence::refuse(const Arguments<Callback::group_specific>& args) {
  if (args.operation->op_type != H5VL_GROUP_MOUNT) return;
  refuse_stored(args.object);
  refuse_stored(args.operation->args.mount.child_file);
}

// A dataset that goes with the link may be one that a log is for.
void Coherence::refuse(const Arguments<Callback::link_specific>& args) {
  if (args.operation->op_type != H5VL_LINK_DELETE) return;
  require_no_log_elsewhere(vol::Object::from(args.object), args.place->obj_type,
                           group_of_link(*args.place).c_str());
}

void before_reads(std::span<void* const> datasets) {
  if (!anything_pending()) return;
  for (void* one : datasets) replay(touched_by(vol::Object::from(one)));
}

void before_writes(std::span<void* const> datasets) {
  if (!anything_pending()) return;
  for (void* one : datasets) drain(touched_by(vol::Object::from(one)));
}

void require_usable(std::span<void* const> datasets) {
  for (void* one : datasets) {
    require_no_log_elsewhere(vol::Object::from(one));
    if (const LoggedFile* const file = file_of(one)) file->require_whole();
  }
}

}  // namespace headrace::log_layout
