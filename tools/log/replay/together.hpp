// Logs that are put in order by the ranks of an MPI program: this one.
#pragma once

#include <string>

#include "apart.hpp"

namespace headrace::replay {

// Opens a file for writing together with all ranks, under the layers that the environment names,
// which puts its logs in order: in a copy, or, where no place is given for one, in the file itself.
// Collective over all processes. Returns the status to end with; what goes wrong is told on
// standard error, by one rank where it can be.
int put_in_order_together(const std::string& hdf5, const sidecar::Places& places);

}  // namespace headrace::replay
