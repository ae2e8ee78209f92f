// A process that works on a file once the program has closed it, and ends by itself. No HDF5. See
// docs/decisions/0012.
#pragma once

#include <string>
#include <vector>

namespace headrace::sidecar {

// The descriptor at which the process finds what it has locked.
inline constexpr int kLockedDescriptor = 3;

// Takes an exclusive flock() of a descriptor and hands it on to a program of Headrace's own, from
// the folder bin beside the libraries, which is not waited for: it is to fork and end at once.
// Throws Error.
void start_background_process(const std::string& program, std::vector<std::string> arguments,
                              int locked);

}  // namespace headrace::sidecar
