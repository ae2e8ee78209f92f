// What a program may ask of the layer: the operations of include/headrace/stripe.h. The
// application's thread only.
#pragma once

#include "vol/object.hpp"

namespace headrace::stripe {

// Makes the operations known to the library, by their names.
void register_operations();

// Whether the library's number of an optional operation means one of ours.
bool is_operation(H5VL_subclass_t kind, int operation);
// Whether it can be carried out: the file is in pieces.
bool is_striped(const vol::Object& file);

// Throws Error.
void operate_on_file(vol::Object& file, const H5VL_optional_args_t& args);

}  // namespace headrace::stripe
