// A module is a shared object that holds connectors and drivers: the core with those of Headrace,
// or a single plug-in file with one of its own. HDF5 finds plug-ins by file, so a small file
// (shim.cpp) stands for each and asks the module.
//
// A process may hold several libhdf5 (the h5py and netCDF4 wheels each bring one). Each gets a copy
// of the module of its own, bound to it: the first gets the module itself, further ones a copy
// loaded from memory. No libhdf5 is ever promoted to the global scope.
#pragma once

#include <span>
#include <string_view>

#include "base/settings/settings.hpp"
#include "hdf5/api.hpp"

namespace headrace {

// A plug-in file and the class it stands for.
template <typename Class>
struct Plugin {
  std::string_view name;  // as HDF5 knows it; empty when the layer has no such seat
  int value = 0;
  std::string_view file;
  const Class& (*cls)() = nullptr;
  bool repeats = false;  // whether it may be in a chain twice
};

// A row of the module's list of layers.
struct LayerEntry {
  std::string_view name;
  std::string_view summary;
  std::span<const Setting> settings;
  Plugin<H5VL_class_t> vol;
  Plugin<H5FD_class_t> vfd;      // over sec2
  Plugin<H5FD_class_t> vfd_mpi;  // over mpio
};

// The layers of this module; each module defines it.
std::span<const LayerEntry> layers();

}  // namespace headrace

extern "C" {

// The class struct named `name` (an H5PL_type_t decides between connectors and drivers), bound to
// the libhdf5 that holds the code address `caller`. When that cannot be bound, the log tells why,
// and the class is the library's own under this name (plugin/stand_in.hpp). Null when there is
// none. Thread-safe.
__attribute__((visibility("default"))) const void* headrace_plugin(int type, const char* name,
                                                                   const void* caller);

// Tells a private copy, before anything else is asked of it, the file that it is a copy of.
__attribute__((visibility("default"))) void headrace_copied_from(const char* file);

// The layers and settings of this module as JSON, see docs/formats/describe.md. Static storage.
__attribute__((visibility("default"))) const char* headrace_describe(void);
}
