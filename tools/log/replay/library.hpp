// A libhdf5 that is loaded by its path: this program is linked with none.
#pragma once

#include <dlfcn.h>

#include <string>

#include "base/error.hpp"

namespace headrace::replay {

// Global, for it is the process's only one. Throws Error.
void* load(const std::string& library);
// A function or variable of it. Throws Error.
template <typename Symbol>
Symbol* look_up(void* library, const char* name) {
  auto* const found = reinterpret_cast<Symbol*>(dlsym(library, name));
  if (found == nullptr) throw Error("it does not export " + std::string(name));
  return found;
}
// What HDF5 says of its last error.
std::string innermost_error(void* library);

struct Hdf5 {
  std::string library;
  std::string plugins;  // the folder of Headrace's
};

// Opens a file for writing under the log layer, which puts its log in order, and closes it. Once.
// `options`: more of the layer's. Throws Error with what HDF5 says.
void open_and_close(const Hdf5& hdf5, const std::string& file, const std::string& options);

}  // namespace headrace::replay
