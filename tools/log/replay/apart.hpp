// Logs that are put in order by another program, which opens what it is given.
#pragma once

#include <exception>
#include <string>
#include <vector>

#include "base/throttle.hpp"
#include "sidecar/working_copy.hpp"

namespace headrace::replay {

// What the option `bandwidth` of the layer says in the environment. Throws Error.
Throttle throttle_of_environment();
// Gives a copy its name, and tells on standard output which logs are in it, each name ended by a
// zero byte. Throws Error.
void finish(sidecar::WorkingCopy& copy);
// What to tell of an error: the names of the file and its logs instead of the copy's, and what to
// do.
std::string text_of(const sidecar::Places& places, const std::exception& error);

// Runs `command FILE r`, which reads the file, and, where that succeeds, `command COPY r+`, which
// puts the logs in order in the copy. What goes wrong is told on standard error. Returns the status
// to end with.
int put_in_order_apart(const sidecar::Places& places, const std::vector<std::string>& command);

}  // namespace headrace::replay
