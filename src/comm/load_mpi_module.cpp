#include <dlfcn.h>
#include <unistd.h>

#include <array>
#include <string>
#include <string_view>

#include "base/error.hpp"
#include "base/process/module_file.hpp"
#include "comm/mpi_module.hpp"
#include "hdf5/api.hpp"

namespace headrace {
namespace {

// How libraries name themselves, and the binary interface they have.
struct Kind {
  std::string_view name;
  std::string_view module;
};
constexpr std::array kKinds{Kind{"Open MPI", "openmpi"}, Kind{"MPICH", "mpich"},
                            Kind{"Intel(R) MPI", "mpich"}, Kind{"MVAPICH", "mpich"}};

// Of the library that HDF5 calls, which is not always the one that a program was started by.
std::string version_text() {
  if (h5.mpi_library_version == nullptr)
    throw Error(library.path + " does not lead to an MPI library that tells its version");
  std::array<char, 1 << 14> text{};  // MPICH's is of 8192 characters at most
  int length = 0;
  if (h5.mpi_library_version(text.data(), &length) != 0)
    throw Error("the MPI library of " + library.path + " does not tell its version");
  std::string version(text.data());
  return version.substr(0, version.find('\n'));
}

std::string_view kind_of(std::string_view version) {
  for (const Kind& kind : kKinds)
    if (version.find(kind.name) != version.npos) return kind.module;
  throw Error(library.path + " uses '" + std::string(version) +
              "'; Headrace has modules for Open MPI and MPICH");
}

// Beside the core; plug-ins that are modules themselves lie one folder deeper, programs in bin/.
std::string path_of(std::string_view kind) {
  const std::string file = "/libheadrace_mpi_" + std::string(kind) + ".so";
  const std::string folder = module_file().substr(0, module_file().rfind('/'));
  const std::string above = folder.substr(0, folder.rfind('/'));
  std::string beside = folder + file;
  if (::access(beside.c_str(), F_OK) == 0) return beside;
  for (const std::string& folder_above : {above, above + "/lib"})
    if (std::string other = folder_above + file; ::access(other.c_str(), F_OK) == 0) return other;
  return beside;
}

const MpiTable* load() {
  const std::string version = version_text();
  const std::string_view kind = kind_of(version);
  const std::string path = path_of(kind);
  const std::string start = "the MPI module " + path;
  if (::access(path.c_str(), F_OK) != 0)
    throw Error("Headrace is installed without " + start + " for " + version +
                ", as from a wheel; `pip install .` in its sources, with that MPI's mpicc in PATH, "
                "makes it");
  void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr)
    throw Error(start + " (HDF5 uses " + version + ") cannot be loaded: " + dlerror());
  auto* const function = reinterpret_cast<MpiTableFunction*>(dlsym(handle, kMpiTableSymbol));
  const MpiTable* table = function == nullptr ? nullptr : function();
  if (table == nullptr || table->version != kMpiTableVersion)
    throw Error(start + " belongs to another version of Headrace");
  if (table->kind != kind) throw Error(start + " is one for " + table->kind);
  // Two MPI libraries of one kind in a process: the one that nobody has started would crash.
  if (table->version_text != h5.mpi_library_version)
    throw Error(start + " is bound to another MPI library than " + library.path);
  return table;
}

}  // namespace

const MpiTable& mpi_module() {
  static const MpiTable* const table = load();  // tried again when it has thrown
  return *table;
}

}  // namespace headrace
