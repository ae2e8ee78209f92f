// The logs of ranks that have a file open together, one each: FILE.headrace/ID.RANK.log, where ID
// is the same for all of them. They go when the file is closed. No HDF5.
#pragma once

#include <string>

#include "engine/log/format.hpp"

namespace headrace::log_layout {

std::string rank_log_path(const std::string& file, const engine::log::Owner& owner, int rank);

// A new one, open for reading and writing, and locked as long as it is. Throws Error.
int make_rank_log(const std::string& file, const engine::log::Owner& owner, int rank);
// The folder goes with the last of them.
void remove_rank_log(const std::string& file, const engine::log::Owner& owner, int rank) noexcept;

// Those that crashed programs have left; nobody reads them any more.
void remove_left_rank_logs(const std::string& file) noexcept;

}  // namespace headrace::log_layout
