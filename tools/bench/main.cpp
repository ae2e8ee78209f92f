// headrace-bench: loads a libhdf5, makes it global, and then the kernels, which are plain HDF5
// programs with their calls unresolved until here. So one build measures any libhdf5, 1.14 or
// newer: a cluster's, a wheel's, serial or parallel.
#include <dlfcn.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <string>
#include <string_view>

namespace {

// The value of --hdf5; everything else on the command line is for the kernels' library.
std::string asked_library(int argc, char** argv) {
  constexpr std::string_view kOption = "--hdf5";
  for (int i = 1; i < argc; ++i) {
    const std::string_view word(argv[i]);
    if (word == kOption && i + 1 < argc) return argv[i + 1];
    if (word.starts_with(kOption) && word.substr(kOption.size()).starts_with('='))
      return std::string(word.substr(kOption.size() + 1));
  }
  return {};
}

bool load_hdf5(const std::string& asked) {
  if (!asked.empty()) {
    if (dlopen(asked.c_str(), RTLD_NOW | RTLD_GLOBAL) != nullptr) return true;
    std::fprintf(stderr, "headrace-bench: --hdf5 %s: %s\n", asked.c_str(), dlerror());
    return false;
  }
  for (const char* name : {"libhdf5.so", "libhdf5.so.320", "libhdf5.so.310"})
    if (dlopen(name, RTLD_NOW | RTLD_GLOBAL) != nullptr) return true;
  std::fprintf(stderr,
               "headrace-bench: found no libhdf5 where libraries are searched: give one with "
               "--hdf5 FILE\n");
  return false;
}

// Beside the program, as in the Python package and in a build, or where a prefix has it.
void* load_kernels() {
  std::error_code ignored;
  const auto here = std::filesystem::read_symlink("/proc/self/exe", ignored).parent_path();
  const std::string name = "libheadrace_bench.so";
  for (const auto& folder : {here / "../lib", here}) {
    const std::string path = (folder / name).lexically_normal();
    if (!std::filesystem::exists(path, ignored)) continue;
    void* handle = dlopen(path.c_str(), RTLD_LAZY | RTLD_LOCAL);
    if (handle == nullptr) std::fprintf(stderr, "headrace-bench: %s\n", dlerror());
    return handle;
  }
  std::fprintf(stderr, "headrace-bench: %s is not in %s\n", name.c_str(),
               (here / "../lib").lexically_normal().c_str());
  return nullptr;
}

}  // namespace

int main(int argc, char** argv) {
  constexpr int kUsage = 2;
  if (!load_hdf5(asked_library(argc, argv))) return kUsage;
  void* kernels = load_kernels();
  if (kernels == nullptr) return kUsage;
  auto* const run = reinterpret_cast<int (*)(int, char**)>(dlsym(kernels, "headrace_bench_main"));
  if (run == nullptr) {
    std::fprintf(stderr, "headrace-bench: libheadrace_bench.so is another version's\n");
    return kUsage;
  }
  return run(argc, argv);
}
