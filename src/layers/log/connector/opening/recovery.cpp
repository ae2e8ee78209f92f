#include "layers/log/connector/opening/recovery.hpp"

#include <utility>

#include "hdf5/access_list.hpp"
#include "hdf5/quiet_errors.hpp"
#include "sidecar/folder.hpp"

namespace headrace::log_layout {

Id<Kind::plist> recovery_access(const char* name, hid_t fapl) {
  if (!sidecar::has_folder(sidecar::path_of(name))) return {};
  const PrivateErrors own;
  const bool clear = true;
  Id<Kind::plist> list = copy_access_list(fapl);
  // Where HDF5 has no such property it tells the user what to do.
  return h5.Pset(list.get(), "clear_status_flags", &clear) < 0 ? Id<Kind::plist>()
                                                               : std::move(list);
}

}  // namespace headrace::log_layout
