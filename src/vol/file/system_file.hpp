// The file of the system that an open file is, where it is one.
#pragma once

#include <optional>

#include "vol/object.hpp"

namespace headrace::vol {

// Whether the driver of an access list reads and writes by a descriptor: not those over MPI, in
// memory, in several files.
bool has_descriptor(hid_t fapl);
// That of a file that was opened by such a list, open as long as the file is; none where HDF5 does
// not tell. Nothing is read or written by it, so that layers below go on. The application's thread
// only.
std::optional<int> descriptor_of(void* under_file, const UnderConnector& connector);

// Of a file that was opened for writing, by the last layer above HDF5's own: from now on until the
// last object of it is closed other processes know that somebody writes it.
void tell_of_writing(void* under_file, UnderConnector& connector, hid_t fapl);

}  // namespace headrace::vol
