// The configuration string of a file driver of ours in an access property list.
#pragma once

#include <string>

#include "hdf5/api.hpp"

namespace headrace {

// Empty when there is none. HDF5 leaves the string out of the lists that it makes by itself, as for
// the targets of external links, and keeps the driver's info, which is the same string: see
// fapl_get in vfd/pass_through.hpp. So the list's driver must be one of ours.
std::string driver_config(hid_t fapl);

// Sets the driver of an access property list; null for no configuration. Negative when HDF5 cannot.
herr_t set_driver(hid_t fapl, const std::string& name, const char* config);

// The id of a driver, which stays until HDF5 ends. Negative when HDF5 cannot load it.
hid_t driver_named(const std::string& name);

}  // namespace headrace
