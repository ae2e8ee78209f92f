#pragma once

namespace headrace {

// Puts back the filters that netCDF4's wheel brings. The package names their folder in
// HDF5_PLUGIN_PATH when it is imported, unless the variable is set already, as it is whenever HDF5
// is to find us. Done once, for the libhdf5 of that wheel only: filters must not appear in programs
// that would not have them. Called when a file is opened: netCDF sets HDF5's list of folders anew
// when it starts, and HDF5 must not be looking for plug-ins.
void restore_wheel_filters();

}  // namespace headrace
