// Rules for the access property list of a file: each sets what an option says, where the program
// has left HDF5's default. None changes what is in the file but for where it lies.
#pragma once

#include "connectors/tune/file_state.hpp"

namespace headrace::tune {

// Changes the list that the file is about to be opened with, and notes what was in it. Throws
// Error where HDF5 does not take a value.
void change_access(hid_t fapl, FileState& state);

// Puts into a copy of that list what the program had in its own.
void restore_access(hid_t fapl, const FileState& state);

}  // namespace headrace::tune
