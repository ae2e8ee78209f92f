// The line of a Python program that has called, found in the frames of the calling thread without
// the interpreter's lock: h5py and others give it up before they call HDF5.
#pragma once

#include <cstdint>

namespace headrace::trace {

// The id of a fact that tells the file and the line: of the innermost frame of what is no installed
// package; in a pool's thread without one, of that which the main thread is at, as it waits for the
// work or has just handed it out; else of the innermost frame. 0 where no frame of Python is known
// to be, or it is one of an interpreter whose frames this does not know: then no line is better
// than a wrong one. Takes no references and runs no Python. The application's threads, one at a
// time.
std::uint32_t python_line() noexcept;

}  // namespace headrace::trace
