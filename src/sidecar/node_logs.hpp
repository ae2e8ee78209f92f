// The logs that ranks have left in files of their nodes (mpi_logs=node). No HDF5.
#pragma once

#include <string>
#include <vector>

#include "sidecar/folder.hpp"
#include "sidecar/log_file.hpp"

namespace headrace::sidecar {

bool has_node_logs(const std::string& file, const Owner& owner);
// By rank. Throws Error when one is not there, or another file's.
std::vector<LogFile> logs_of_nodes(const std::string& file, const Owner& owner);

}  // namespace headrace::sidecar
