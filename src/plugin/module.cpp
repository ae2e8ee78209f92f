#include "plugin/module.hpp"

#include <H5PLextern.h>
#include <dlfcn.h>

#include <cerrno>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/process/module_file.hpp"
#include "base/process/private_copy.hpp"
#include "base/report/log.hpp"
#include "hdf5/report/events.hpp"
#include "plugin/stand_in.hpp"

namespace headrace {
namespace {

using PluginFunction = decltype(&headrace_plugin);

// Which copy of the module serves which libhdf5. Lives in the first copy; leaked, because HDF5 ends
// its connectors after C++ statics are destroyed.
struct Copies {
  std::mutex mutex;
  std::map<const void*, PluginFunction> by_library;  // base address of the library -> its copy
};

Copies& copies() {
  static auto* const instance = new Copies;
  return *instance;
}

const void* base_of(const void* address) {
  Dl_info info{};
  return dladdr(address, &info) == 0 ? nullptr : info.dli_fbase;
}

template <typename Class>
const void* find(const Plugin<Class>& plugin, std::string_view name) {
  return plugin.cls != nullptr && plugin.name == name ? &plugin.cls() : nullptr;
}

const void* class_named(int type, std::string_view name) {
  for (const LayerEntry& layer : layers()) {
    const void* found = type == H5PL_TYPE_VOL ? find(layer.vol, name) : find(layer.vfd, name);
    if (found == nullptr && type == H5PL_TYPE_VFD) found = find(layer.vfd_mpi, name);
    if (found != nullptr) return found;
  }
  return nullptr;
}

// For a library that the module cannot be bound to. It asks for all that it finds until it has the
// one that it looks for, and takes null for an error.
const void* class_in_place_of(int type, std::string_view name, const void* caller) {
  for (const LayerEntry& layer : layers()) {
    if (type == H5PL_TYPE_VOL && layer.vol.name == name)
      return stand_in(type, name, layer.vol.value, caller);
    if (type == H5PL_TYPE_VFD && layer.vfd.name == name)
      return stand_in(type, name, layer.vfd.value, caller);
    if (type == H5PL_TYPE_VFD && layer.vfd_mpi.name == name)
      return stand_in(type, name, layer.vfd_mpi.value, caller);
  }
  return nullptr;
}

bool switched_off() {
  try {
    return value_of(global_settings(), "layers", {}) == "off";
  } catch (const Error&) {  // malformed: each open of a file says so
    return false;
  }
}

// Binds this very copy and reads the environment. False where a library is to use its own classes.
bool bind_here(const void* caller) {
  std::vector<std::span<const Setting>> tables{global_settings()};
  for (const LayerEntry& layer : layers()) tables.push_back(layer.settings);
  read_environment(tables);
  configure_log();
  if (switched_off()) return false;
  const std::string error = bind(caller);
  if (error.empty()) return true;
  static std::string told;  // HDF5 asks each plug-in file in turn
  if (std::exchange(told, error) == error) return false;
  log(Level::error, "not loaded: " + error);
  report_refusal(error);
  return false;
}

// The copy for the library at `base`; null when it cannot be bound. The lock is held.
PluginFunction copy_for(const void* base, const void* caller) {
  auto& by_library = copies().by_library;
  if (const auto known = by_library.find(base); known != by_library.end()) return known->second;
  PluginFunction function = &headrace_plugin;
  if (by_library.empty()) {
    if (!bind_here(caller)) return nullptr;
  } else {
    void* handle = load_private_copy(module_file());
    if (handle == nullptr) {
      const char* why = dlerror();
      log(Level::error, std::string("no private copy for a further libhdf5: ") +
                            (why == nullptr ? std::strerror(errno) : why));
      return nullptr;
    }
    reinterpret_cast<decltype(&headrace_copied_from)>(dlsym(handle, "headrace_copied_from"))(
        module_file().c_str());
    function = reinterpret_cast<PluginFunction>(dlsym(handle, "headrace_plugin"));
  }
  by_library.emplace(base, function);
  return function;
}

}  // namespace
}  // namespace headrace

const void* headrace_plugin(int type, const char* name, const void* caller) {
  using namespace headrace;
  try {
    const void* base = base_of(caller);
    PluginFunction function = nullptr;
    {
      const std::lock_guard lock(copies().mutex);
      function = copy_for(base, caller);
    }
    if (function == nullptr) return class_in_place_of(type, name, caller);
    if (function != &headrace_plugin) return function(type, name, caller);
    return class_named(type, name);
  } catch (...) {  // out of memory: HDF5 reports that the plug-in cannot be loaded
    return nullptr;
  }
}

void headrace_copied_from(const char* file) { headrace::set_module_file(file); }
