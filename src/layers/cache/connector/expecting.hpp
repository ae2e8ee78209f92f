// What a program says that it will read next: headrace_expect() of include/headrace/cache.h.
#pragma once

#include "vol/object.hpp"

namespace headrace::cache {

// Makes the operation known to the library.
void register_operations();
// Whether the library's number of an optional operation on datasets means it.
bool is_operation(int operation);
// Whether chunks of the dataset are decoded by workers.
bool takes_orders(vol::Object& dataset);
// Carries it out. Throws Error.
void expect(vol::Object& dataset, const H5VL_optional_args_t& args);

}  // namespace headrace::cache
