// The place in a compiled program that has called HDF5.
#pragma once

#include <cstdint>

namespace headrace::trace {

// The id of a fact that tells a module (the program or a library) and an address in it, as tools
// for debug information take it: that of the innermost frame of the program itself, else of the
// innermost one of what is neither HDF5 nor Headrace. 0 where there is none. It costs one or two
// microseconds. The application's threads, one at a time.
std::uint32_t native_caller() noexcept;

}  // namespace headrace::trace
