#include "layers/log/connector/serial/elsewhere.hpp"

#include <string>

#include "base/error.hpp"
#include "hdf5/quiet_errors.hpp"
#include "layers/log/connector/file/logged_file.hpp"
#include "layers/log/connector/opening/marker.hpp"
#include "layers/log/connector/opening/opened_object.hpp"
#include "layers/log/connector/serial/all_files.hpp"
#include "layers/log/connector/state.hpp"

namespace headrace::log_layout {

void require_no_log_elsewhere(vol::Object& object) {
  const LoggedFile* const file = LoggedFile::of(*object.connector);
  if (file == nullptr || file->of_ranks() || handle_of(object).no_log_elsewhere) return;
  const PrivateErrors own;
  const vol::BelowFile below{object.under, object.connector->id()};
  if (marked(below, H5I_DATASET)) {
    vol::Identity identity{};
    const bool here = vol::read_identity(object, identity) && file->is(identity.file);
    if (!here) drain_and_unmark();  // it may be a log of this program
    if (!here && marked(below, H5I_DATASET))
      throw Error(vol::describe(object) +
                  " is in a file that has a log, which must be replayed first (headrace replay)");
  }
  handle_of(object).no_log_elsewhere = true;
}

void require_no_log_elsewhere(const vol::Object& from, H5I_type_t type, const char* name) {
  const LoggedFile* const file = LoggedFile::of(*from.connector);
  if (file == nullptr || file->of_ranks()) return;
  const PrivateErrors own;
  H5VL_loc_params_t where{type, H5VL_OBJECT_BY_NAME, {}};
  where.loc_data.loc_by_name = {name, h5.default_lists.front().get()};
  const hid_t connector = from.connector->id();
  const OpenedObject opened({from.under, connector}, where);
  // HDF5 says what is wrong with a name.
  if (opened.under() == nullptr || opened.in_file(file->number())) return;
  drain_and_unmark();  // it may be a log of this program
  if (marked({opened.under(), connector}, opened.type()))
    throw Error(std::string("object ") + name + ", as seen from file " + file->path() +
                ", is in a file that has a log, which must be replayed first (headrace replay)");
}

}  // namespace headrace::log_layout
