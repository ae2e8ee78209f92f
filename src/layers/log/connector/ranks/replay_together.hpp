// The logs that an earlier program has left, when ranks open their file for writing.
#pragma once

#include <optional>
#include <string>

#include "comm/communicator.hpp"
#include "layers/log/connector/replaying/earlier_logs.hpp"

namespace headrace::log_layout {

// Collective: puts the logs in order that the file's marker names, each rank a share, and removes
// them. Throws Error, on all ranks if on one; then the logs remain. `together`: opening a dataset
// is a call that HDF5 has ranks wait in.
void replay_together(const vol::Object& file, const std::string& path, Communicator& ranks,
                     const LogOptions& options, const std::optional<engine::log::Owner>& marker,
                     bool together);

// Collective: the file does not say any more that logs belong to it, which are in it. HDF5 has been
// flushed. Throws Error, on all ranks if on one.
void retire_marker_together(const OpenFile& place, const engine::log::Owner& owner,
                            Communicator& ranks);

}  // namespace headrace::log_layout
