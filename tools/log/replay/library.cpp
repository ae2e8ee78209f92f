#include "library.hpp"

#include <hdf5.h>

#include <cstdlib>

namespace headrace::replay {
namespace {

// Whatever layers the program has, this one alone.
void set_environment(std::string plugins, const std::string& options) {
  if (const char* others = std::getenv("HDF5_PLUGIN_PATH")) plugins += ':' + std::string(others);
  const std::string connector =
      "headrace_log canonicalise=close;verify=true;recover=false;skip_missing=false;"
      "mpi_logs=none;" +
      options + ";under_vol=0;under_info={}";
  ::setenv("HDF5_PLUGIN_PATH", plugins.c_str(), 1);
  ::setenv("HDF5_VOL_CONNECTOR", connector.c_str(), 1);
  for (const char* name : {"HDF5_DRIVER", "HDF5_DRIVER_CONFIG", "HDF5_PLUGIN_PRELOAD"})
    ::unsetenv(name);
}

// The first one is the innermost.
herr_t keep_first(unsigned n, const H5E_error2_t* record, void* text) {
  if (n == 0 && record->desc != nullptr) *static_cast<std::string*>(text) = record->desc;
  return 0;
}

}  // namespace

void* load(const std::string& library) {
  void* const loaded = dlopen(library.c_str(), RTLD_NOW | RTLD_GLOBAL);
  if (loaded == nullptr) throw Error(dlerror());
  return loaded;
}

std::string innermost_error(void* library) {
  std::string cause = "HDF5 gives no cause";
  look_up<decltype(H5Ewalk2)>(library, "H5Ewalk2")(H5E_DEFAULT, H5E_WALK_UPWARD, &keep_first,
                                                   &cause);
  return cause;
}

void open_and_close(const Hdf5& hdf5, const std::string& file, const std::string& options) {
  constexpr unsigned kReadWrite = 1;  // H5F_ACC_RDWR, a macro that calls the library
  set_environment(hdf5.plugins, options);
  void* const loaded = load(hdf5.library);
  auto* const quiet = look_up<decltype(H5Eset_auto2)>(loaded, "H5Eset_auto2");
  auto* const open = look_up<decltype(H5Fopen)>(loaded, "H5Fopen");
  auto* const close = look_up<decltype(H5Fclose)>(loaded, "H5Fclose");
  if (look_up<decltype(H5open)>(loaded, "H5open")() < 0) throw Error("HDF5 does not start");
  quiet(H5E_DEFAULT, nullptr, nullptr);
  const hid_t id = open(file.c_str(), kReadWrite, H5P_DEFAULT);
  if (id >= 0 && close(id) >= 0) return;
  throw Error(innermost_error(loaded));
}

}  // namespace headrace::replay
