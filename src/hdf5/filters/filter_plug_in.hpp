// Filters that plug-in files have registered with HDF5, for use without it.
#pragma once

#include "engine/codec/plug_in.hpp"
#include "hdf5/api.hpp"

namespace headrace {

// Copies of the plug-in file that this process has loaded for a filter. Null where several files
// offer it, or none, as when a program registers a function of its own; where the copy would call
// HDF5; where it cannot be loaded. `workers`: copies of use.
engine::PlugInCopies* copies_of_filter(H5Z_filter_t id, unsigned workers);

}  // namespace headrace
