// What a program may say to the layer: the operations of include/headrace/async.h. The
// application's thread only.
#pragma once

#include "vol/object.hpp"

namespace headrace::async {

// Makes the operations known to the library, by their names.
void register_operations();

// Whether the library's number of an optional operation means one of ours.
bool is_operation(H5VL_subclass_t kind, int operation);

// Carry it out. Throw Error.
void operate_on_file(vol::Object& file, const H5VL_optional_args_t& args);
void operate_on_dataset(vol::Object& dataset, const H5VL_optional_args_t& args);

}  // namespace headrace::async
