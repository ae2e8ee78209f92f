// The rule for hints for MPI-IO, of files that ranks open together: those that an option says,
// where the program has given none of that name. They do not change what is in a file, and MPI-IO
// ignores what it does not know. Memory: that of MPI-IO, as the hints say.
#pragma once

#include "layers/tune/connector/file_state.hpp"

namespace headrace::tune {

// Changes the list that a file is about to be opened with by ranks. Local.
void add_hints(hid_t fapl, FileState& state);

}  // namespace headrace::tune
