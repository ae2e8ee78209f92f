#include "connectors/log/hooks.hpp"

namespace headrace::log_layout {
namespace {

// What a call touches of the file or dataset that it is made for. Names may lead anywhere.
Touched touched(const vol::Effects& effects, vol::Object* object) {
  const File* const file = object == nullptr ? nullptr : File::of(*object->connector);
  if (file == nullptr) return {};
  // Who has a file by an object behind an external link has the connector of another one.
  if (effects.reach == vol::Reach::file)
    return file->is(*object) ? Touched::file(file->number()) : Touched();
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
  const auto known = [&](unsigned one) {
    return !effects.any(vol::effect::unknown) && effects.any(one);
  };
  if (known(vol::effect::renames | vol::effect::unlinks)) return settle_before_names_change();
  if (known(vol::effect::copies_file)) refuse_stored(object);
  if (known(vol::effect::copies_file | vol::effect::lets_others_read | vol::effect::mounts))
    settle_and_unmark(what);  // an image is another file
  else if (effects.what == vol::effect::counts)
    give(what);
  else
    settle(what);
  // Readers see all, through whatever id of the file. Of mounted files HDF5 finds the marker, and
  // the datasets by their names, in another one.
  if (known(vol::effect::lets_others_read | vol::effect::mounts)) log_nothing_more();
  if (known(vol::effect::gives_handle)) stop_for_handle(*object);
  if (effects.any(vol::effect::resizes | vol::effect::refreshes)) vol::extents_may_have_changed();
}

}  // namespace headrace::log_layout
