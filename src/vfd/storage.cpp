#include "vfd/storage.hpp"

#include <sys/stat.h>

#include "base/report/log.hpp"

namespace headrace::vfd {
namespace {

// HDF5 follows where a pipe or /dev/null ends by what goes through its own driver.
bool is_special(int file) {
  struct stat status{};
  if (::fstat(file, &status) != 0) return true;
  return !S_ISREG(status.st_mode) && !S_ISBLK(status.st_mode);
}

}  // namespace

bool is_path_for_mpi(std::string_view name) {
  return name.substr(0, name.find('/')).find(':') == std::string_view::npos;
}

int* descriptor_of(H5FD_t* file) {
  const H5FD_class_t& cls = *file->cls;
  void* descriptor = nullptr;
  herr_t answered = -1;
  if (std::string_view(cls.name) == "sec2")
    answered = cls.get_handle(file, kDefaultPlist, &descriptor);
  else if (std::string_view(cls.name).starts_with("headrace_") && cls.ctl != nullptr)
    answered = cls.ctl(file, kDescriptorCode, 0, nullptr, &descriptor);
  return answered < 0 ? nullptr : static_cast<int*>(descriptor);
}

std::unique_ptr<engine::io::File> storage_of(H5FD_t* under, const char* name, Over over,
                                             bool direct) {
  const H5FD_class_t& cls = *under->cls;
  if (std::string_view(cls.name) == "mpio")
    return over == Over::mpio && is_path_for_mpi(name) ? engine::io::posix_file(name) : nullptr;
  if (std::string_view(cls.name) == "sec2") {
    const int* const file = descriptor_of(under);
    if (file == nullptr || is_special(*file)) return {};
    if (!direct) return engine::io::posix_file(*file, name);
    return engine::io::direct_file(*file, name, [](const std::string& why) {
      log(Level::warning, "no direct writes (O_DIRECT): " + why);
    });
  }
  if (!std::string_view(cls.name).starts_with("headrace_") || cls.ctl == nullptr) return {};
  void* storage = nullptr;
  if (cls.ctl(under, kStorageCode, 0, name, &storage) < 0) return {};
  return std::unique_ptr<engine::io::File>(static_cast<engine::io::File*>(storage));
}

}  // namespace headrace::vfd
