// Rules for the access property list of a file: each sets what an option says, where the program
// has left HDF5's default. None changes what is in the file but for where it lies, and with
// allow=layout in which format. Collective metadata make ranks wait for each other in calls in
// which they otherwise do not: only the option puts them on.
#pragma once

#include "layers/tune/connector/file_state.hpp"
#include "vol/file/file_access.hpp"

namespace headrace::tune {

// Changes the list that the file is about to be opened with, and notes what was in it. Throws
// Error where HDF5 does not take a value.
void change_access(vol::FileAccess& access, FileState& state, const FileForm& form);

// Whether HDF5's page buffer may read the file wrongly that is being opened: it takes parts of the
// chunk index of format 1.10, the fixed array, for others. Only files with the superblock of that
// format are taken to have one. What is open already is buffered, or not, as it was.
bool is_buffered_wrongly(const vol::Object& file);

// Puts into a copy of that list what the program had in its own.
void restore_access(hid_t fapl, const FileState& state);

// HDF5's default transfer list but for the buffer that elements are converted in.
Id<Kind::plist> transfer_list_with(std::uint64_t conversion_buffer);

}  // namespace headrace::tune
