// Types of HDF5 as the keys of maps.
#pragma once

#include "hdf5/api.hpp"
#include "objects/format/key_form.hpp"

namespace headrace::object {

// Throws Error (unsupported) for a type whose elements have no order here.
objects::KeyForm key_form(hid_t type);

}  // namespace headrace::object
