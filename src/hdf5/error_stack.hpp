// From C++ exceptions to HDF5's error stack.
#pragma once

#include <string>

namespace headrace {

// Pushes one record for the exception being handled and one for each exception nested in it, the
// innermost first, on top of what is already there. `callback` names where it was caught. Call it
// from a catch block; throws nothing and clears nothing.
void push_current_exception(const char* callback) noexcept;

// What the innermost record of HDF5's error stack says; empty when there is none.
std::string root_cause();

}  // namespace headrace
