#include "layers/log/connector/opening/opening.hpp"

#include <filesystem>
#include <utility>

#include "base/error.hpp"
#include "base/report/log.hpp"
#include "hdf5/quiet_errors.hpp"
#include "sidecar/folder.hpp"

namespace headrace::log_layout {

FormerLogs::FormerLogs(const sidecar::OpeningGuard& guard, unsigned flags, hid_t fapl) noexcept {
  if ((flags & vol::kTruncate) == 0 || !guard.has_folder()) return;
  const PrivateErrors own;
  try {
    name_ = guard.path();
    size_ = std::filesystem::file_size(name_);
    owner_ = marker_on_storage(name_.c_str(), fapl);
  } catch (const std::exception& error) {  // one that is no HDF5 file
    headrace::log(Level::debug, error.what());
  }
}

// A file in memory, say, leaves the other one alone.
void FormerLogs::remove() const noexcept {
  if (!owner_) return;
  std::error_code failure;
  const std::uint64_t size = std::filesystem::file_size(name_, failure);
  if (!failure && size < size_) sidecar::remove_logs(name_, *owner_);
}

}  // namespace headrace::log_layout
