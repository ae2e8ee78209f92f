#include "connectors/log/opening/recovery.hpp"

#include <exception>
#include <utility>

#include "base/log.hpp"
#include "connectors/log/file/file.hpp"
#include "connectors/log/opening/opening.hpp"
#include "connectors/log/settings.hpp"
#include "hdf5/quiet_errors.hpp"
#include "sidecar/folder.hpp"

namespace headrace::log_layout {

std::optional<std::string> to_sync(const vol::Object& file) {
  const File* const known = File::of(*file.connector);
  return known != nullptr && known->is(file) ? known->to_sync() : std::nullopt;
}

void sync_closed(const std::string& path) noexcept {
  try {
    sidecar::sync_file(path);
  } catch (const std::exception& error) {
    log(Level::error, error.what());
  }
}

Id<Kind::plist> recovery_access(const char* name, hid_t fapl, const Options& options) {
  if (!is_on(kSettings, "recover", options) || !sidecar::has_folder(sidecar::path_of(name)))
    return {};
  const Aside aside;
  const bool clear = true;
  Id<Kind::plist> list(h5.Pcopy(fapl));
  // Where HDF5 has no such property it tells the user what to do.
  return h5.Pset(list.get(), "clear_status_flags", &clear) < 0 ? Id<Kind::plist>()
                                                               : std::move(list);
}

}  // namespace headrace::log_layout
