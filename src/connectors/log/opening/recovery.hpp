// What is done beside the log for a file that a crash may leave, or has left.
#pragma once

#include <optional>
#include <string>

#include "connectors/log/settings.hpp"
#include "hdf5/id.hpp"
#include "vol/object.hpp"

namespace headrace::log_layout {

// The path of a file that HDF5 is about to close, when it must survive a power cut then.
std::optional<std::string> to_sync(const vol::Object& file);
// To be called when HDF5 has closed it. What goes wrong is logged only: all data is safe by then,
// and an error would leave HDF5 with a file that it has freed.
void sync_closed(const std::string& path) noexcept;

// The list that a file is opened with for recovery; none where the program's own will do. HDF5 says
// of a file in a late format whose writer has crashed that it is open for writing, and opens it
// with a property of h5clear's only.
Id<Kind::plist> recovery_access(const char* name, hid_t fapl, const Options& options);

}  // namespace headrace::log_layout
