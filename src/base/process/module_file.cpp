#include "base/process/module_file.hpp"

#include <dlfcn.h>

#include <cstdlib>
#include <memory>
#include <utility>

namespace headrace {
namespace {

std::string find() {
  Dl_info info{};
  if (dladdr(reinterpret_cast<const void*>(&find), &info) == 0) return {};
  const std::unique_ptr<char, decltype(&std::free)> real(::realpath(info.dli_fname, nullptr),
                                                         &std::free);
  return real == nullptr ? info.dli_fname : real.get();
}

// Asked when the module is loaded, because the program may change its working directory later.
// Leaked on purpose: HDF5 ends its connectors after C++ statics are destroyed.
std::string& path = *new std::string(find());  // NOLINT(*-avoid-non-const-global-variables)

}  // namespace

const std::string& module_file() { return path; }

void set_module_file(std::string original) { path = std::move(original); }

}  // namespace headrace
