#include "hdf5/filters/filter_plug_in.hpp"

#include <H5PLextern.h>
#include <dlfcn.h>
#include <link.h>
#include <sys/stat.h>

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "base/process/private_copy.hpp"

namespace headrace {
namespace {

using engine::FilterFunction;
using engine::PlugInCopies;

struct Unload {
  void operator()(void* handle) const { dlclose(handle); }
};

std::vector<std::string> loaded_files() {
  std::vector<std::string> files;
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* to) {
        static_cast<std::vector<std::string>*>(to)->emplace_back(info->dlpi_name);
        return 0;
      },
      &files);
  return files;
}

// Null when it is no plug-in of a filter.
const H5Z_class2_t* filter_in(void* file) {
  const auto type =
      reinterpret_cast<decltype(&H5PLget_plugin_type)>(dlsym(file, "H5PLget_plugin_type"));
  const auto info =
      reinterpret_cast<decltype(&H5PLget_plugin_info)>(dlsym(file, "H5PLget_plugin_info"));
  if (type == nullptr || info == nullptr || type() != H5PL_TYPE_FILTER) return nullptr;
  const auto* filter = static_cast<const H5Z_class2_t*>(info());
  return filter != nullptr && filter->version == H5Z_CLASS_T_VERS ? filter : nullptr;
}

// Empty when there is none, or more than one.
std::string file_of(H5Z_filter_t id) {
  std::string result;
  for (const std::string& name : loaded_files()) {
    if (name.empty()) continue;  // the program
    const std::unique_ptr<void, Unload> file(dlopen(name.c_str(), RTLD_LAZY | RTLD_NOLOAD));
    const H5Z_class2_t* filter = file == nullptr ? nullptr : filter_in(file.get());
    if (filter == nullptr || filter->id != id) continue;
    if (!result.empty()) return {};
    result = name;
  }
  return result;
}

// Plug-ins of the hdf5plugin package call HDF5 through pointers that init_filter() fills in, which
// nobody calls in a copy: there they are functions of its own that do nothing. Of these, rather
// than of a libhdf5 that the program is linked with, the copy must see its own (RTLD_DEEPBIND); of
// memory, which is handed over, the program's.
bool has_libc_memory() {
  const std::unique_ptr<void, Unload> libc(dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD));
  return libc != nullptr && dlsym(libc.get(), "malloc") == dlsym(RTLD_DEFAULT, "malloc") &&
         dlsym(libc.get(), "free") == dlsym(RTLD_DEFAULT, "free");
}

FilterFunction load_copy(const std::string& path) {
  void* const copy = load_private_copy(path, RTLD_DEEPBIND, Copied::loaded);
  if (copy == nullptr || dlsym(copy, "init_filter") == nullptr) return nullptr;
  const H5Z_class2_t* filter = filter_in(copy);
  return filter == nullptr ? nullptr : filter->filter;
}

std::unique_ptr<PlugInCopies> make_copies(H5Z_filter_t id, unsigned workers) {
  constexpr std::size_t kMostBytes = 256 << 20;
  const std::string path = file_of(id);
  struct stat file{};
  if (path.empty() || !has_libc_memory() || ::stat(path.c_str(), &file) != 0) return nullptr;
  const std::size_t most = kMostBytes / std::max<std::size_t>(file.st_size, 1);
  try {
    return std::make_unique<PlugInCopies>([path] { return load_copy(path); },
                                          std::clamp<std::size_t>(most, 1, workers));
  } catch (const Error&) {
    return nullptr;
  }
}

}  // namespace

engine::PlugInCopies* copies_of_filter(H5Z_filter_t id, unsigned workers) {
  static auto& known = *new std::map<H5Z_filter_t, std::unique_ptr<PlugInCopies>>;
  const auto [at, is_new] = known.try_emplace(id);
  if (is_new) at->second = make_copies(id, workers);
  return at->second.get();
}

}  // namespace headrace
