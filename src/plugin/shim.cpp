// A plug-in file: what HDF5 opens to find one connector or driver. Compiled once per plug-in with
//   HEADRACE_PLUGIN_TYPE    H5PL_TYPE_VOL or H5PL_TYPE_VFD
//   HEADRACE_PLUGIN_NAME    the name HDF5 knows it by
//   HEADRACE_PLUGIN_MODULE  the module's file, relative to this one's folder; undefined when the
//                           module is this very file
#include <H5PLextern.h>
#include <dlfcn.h>

#include <mutex>
#include <string>

#include "plugin/module.hpp"

#ifdef HEADRACE_PLUGIN_MODULE
namespace {

// The module stays loaded: its code may be entered as long as the library lives.
void* module_symbol(const char* name) {
  // Threads that come second must see what the module's constructors wrote. dlopen() sees to that
  // as well, where the thread sanitizer does not look.
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  Dl_info info{};
  if (dladdr(reinterpret_cast<const void*>(&module_symbol), &info) == 0) return nullptr;
  const std::string file(info.dli_fname);
  const auto slash = file.rfind('/');
  const std::string folder = slash == std::string::npos ? "." : file.substr(0, slash);
  void* module = dlopen((folder + "/" HEADRACE_PLUGIN_MODULE).c_str(), RTLD_NOW | RTLD_LOCAL);
  return module == nullptr ? nullptr : dlsym(module, name);
}

}  // namespace

const void* headrace_plugin(int type, const char* name, const void* caller) {
  auto* const function =
      reinterpret_cast<decltype(&headrace_plugin)>(module_symbol("headrace_plugin"));
  return function == nullptr ? nullptr : function(type, name, caller);
}

const char* headrace_describe() {
  auto* const function =
      reinterpret_cast<decltype(&headrace_describe)>(module_symbol("headrace_describe"));
  return function == nullptr ? nullptr : function();
}
#endif

H5PL_type_t H5PLget_plugin_type() { return HEADRACE_PLUGIN_TYPE; }

const void* H5PLget_plugin_info() {
  return headrace_plugin(HEADRACE_PLUGIN_TYPE, HEADRACE_PLUGIN_NAME, __builtin_return_address(0));
}
