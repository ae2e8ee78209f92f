// HDF5 does not start when it cannot load a connector or driver that its environment names. A
// library that ours cannot work in gets its own instead, under the name that it asked for: so the
// program runs natively.
#pragma once

#include <string_view>

namespace headrace {

// A copy of the class struct of the native connector, or of the driver sec2 (`type` is an
// H5PL_type_t), in the object that holds the code address `caller`, with another name and value.
// Null when there is none to be found. Calls no function of HDF5.
const void* stand_in(int type, std::string_view name, int value, const void* caller);

}  // namespace headrace
