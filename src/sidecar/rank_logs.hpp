// The logs of ranks that have a file open together, one each, where ID is the same for all of them.
// No HDF5.
#pragma once

#include <cstdint>
#include <string>

#include "engine/log/format.hpp"

namespace headrace::sidecar {

// FILE.headrace/ID.RANK.log may outlive the program, FILE.headrace/ID.RANK.tmp goes when the file
// is closed. Those of a node's ranks may be one file, where .nNODE stands instead of .RANK.
enum class Lifetime { kept, temporary };
std::string rank_log_path(const std::string& file, const engine::log::Owner& owner, int rank,
                          Lifetime lifetime);
std::string node_log_path(const std::string& file, const engine::log::Owner& owner,
                          std::uint32_t node, Lifetime lifetime);

// A new one, open for reading and writing; a temporary one is locked as long as it is. `place`: as
// for make_log(). Throws Error.
int make_rank_log(const std::string& path, const std::string& place);
// The same for those of a node, whose ranks all have it locked.
int make_node_log(const std::string& path, const std::string& place);
int open_node_log(const std::string& path);
// The folder goes with the last of them.
void remove_rank_log(const std::string& path) noexcept;

// Temporary ones that crashed programs have left; nobody reads them any more.
void remove_left_rank_logs(const std::string& file) noexcept;

}  // namespace headrace::sidecar
