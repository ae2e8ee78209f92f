#include "connectors/log/hooks.hpp"

namespace headrace::log_layout {
namespace {

// What a call touches of the file or dataset that it is made for. Names may lead anywhere.
Touched touched(const vol::Effects& effects, vol::Object* object) {
  const File* const file = object == nullptr ? nullptr : File::of(*object->connector);
  if (file == nullptr) return {};
  if (effects.reach == vol::Reach::file) return Touched::file(file->number());
  return effects.reach == vol::Reach::object ? touched_by(*object) : Touched();
}

// Whoever has the descriptor may read and write by it.
void stop_for_handle(const vol::Object& object) {
  File* const file = File::of(*object.connector);
  if (file != nullptr && !vol::OwnQuestion::is_asked()) file->stop();
}

}  // namespace

void prepare(const vol::Effects& effects, vol::Object* object) {
  const Touched what = touched(effects, object);
  if (effects.any(vol::effect::unknown)) {
    settle(what);
  } else if (effects.any(vol::effect::renames | vol::effect::unlinks)) {
    settle_before_names_change();
  } else if (effects.any(vol::effect::copies_file)) {
    refuse_stored(object);
    settle_and_unmark(what);  // an image is another file
  } else if (effects.any(vol::effect::lets_others_read | vol::effect::mounts)) {
    // Readers see all, through whatever id of the file. Of mounted files HDF5 finds the marker, and
    // the datasets by their names, in another one.
    settle_and_unmark(what);
    log_nothing_more();
  } else if (effects.any(vol::effect::gives_handle)) {
    settle(what);
    stop_for_handle(*object);
  } else if (effects.what == vol::effect::counts) {
    give(what);
  } else {
    settle(what);
  }
  if (effects.any(vol::effect::resizes | vol::effect::refreshes)) vol::extents_may_have_changed();
}

}  // namespace headrace::log_layout
