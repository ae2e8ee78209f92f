// Many boxes of a dataset by one call: headrace_write_n() of include/headrace/log.h.
#pragma once

#include "vol/object.hpp"

namespace headrace::log_layout {

// Makes the operation known to the library.
void register_operations();
// Whether the library's number of an optional operation on datasets means it.
bool is_operation(int operation);
// Whether the layer takes it over for a dataset; else the program's calls go one by one.
bool takes_boxes(vol::Object& dataset);
// Carries it out. Throws Error.
void write_boxes(vol::Object& dataset, const H5VL_optional_args_t& args);

}  // namespace headrace::log_layout
