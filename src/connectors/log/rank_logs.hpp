// The logs of ranks that have a file open together, one each, where ID is the same for all of them.
// No HDF5.
#pragma once

#include <string>

#include "engine/log/format.hpp"

namespace headrace::log_layout {

// FILE.headrace/ID.RANK.log may outlive the program, FILE.headrace/ID.RANK.tmp goes when the file
// is closed.
enum class Log { kept, temporary };
std::string rank_log_path(const std::string& file, const engine::log::Owner& owner, int rank,
                          Log which);

// A new one, open for reading and writing; a temporary one is locked as long as it is. Throws
// Error.
int make_rank_log(const std::string& path);
// The folder goes with the last of them.
void remove_rank_log(const std::string& path) noexcept;

// Temporary ones that crashed programs have left; nobody reads them any more.
void remove_left_rank_logs(const std::string& file) noexcept;

}  // namespace headrace::log_layout
