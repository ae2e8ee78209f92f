#include "connectors/log/hooks.hpp"

namespace headrace::log_layout {
namespace {

// What a call touches of the file or dataset that it is made for. Names may lead anywhere.
Touched touched(const vol::Effects& effects, vol::Object* object, const LoggedFile* file) {
  if (file == nullptr || file->of_ranks()) return {};
  // Who has a file by an object behind an external link has the connector of another one.
  if (effects.reach == vol::Reach::file)
    return file->is(*object) ? Touched::file(file->number()) : Touched();
  return effects.reach == vol::Reach::object ? touched_by(*object) : Touched();
}

// What files of this process have logged.
void prepare_files(const vol::Effects& effects, vol::Object* object, const LoggedFile* file) {
  const Touched what = touched(effects, object, file);
  const auto known = [&](unsigned one) {
    return !effects.any(vol::effect::unknown) && effects.any(one);
  };
  if (known(vol::effect::renames | vol::effect::unlinks)) return drain_before_names_change();
  if (known(vol::effect::copies_file)) refuse_stored(object);
  if (known(vol::effect::copies_file | vol::effect::lets_others_read | vol::effect::mounts))
    drain_and_unmark(what);  // an image is another file
  else if (effects.what == vol::effect::counts)
    replay(what);
  else
    drain(what);
  // Readers see all, through whatever id of the file. Of mounted files HDF5 finds the marker, and
  // the datasets by their names, in another one.
  if (known(vol::effect::lets_others_read | vol::effect::mounts)) log_nothing_more();
  if (effects.any(vol::effect::resizes | vol::effect::refreshes)) vol::extents_may_have_changed();
}

}  // namespace

void prepare(vol::Callback callback, const vol::Effects& effects, vol::Object* object) {
  LoggedFile* const file = object == nullptr ? nullptr : LoggedFile::of(*object->connector);
  prepare_files(effects, object, file);
  if (file != nullptr) file->prepare(callback, effects, *object);
}

}  // namespace headrace::log_layout
