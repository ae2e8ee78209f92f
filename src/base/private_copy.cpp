#include "base/private_copy.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

namespace headrace {
namespace {

bool copy_file(int from, int to) {
  struct stat status{};
  if (fstat(from, &status) != 0) return false;
  off_t left = status.st_size;
  while (left > 0) {
    const ssize_t sent = sendfile(to, from, nullptr, static_cast<std::size_t>(left));
    if (sent <= 0) return false;
    left -= sent;
  }
  return true;
}

// Where memory files are forbidden or may not be executed: a temporary file, unlinked once loaded.
void* load_through_file(int source, int flags) {
  const char* folder = std::getenv("TMPDIR");
  std::string name = std::string(folder == nullptr ? "/tmp" : folder) + "/headrace-XXXXXX";
  const int file = mkstemp(name.data());
  if (file < 0) return nullptr;
  lseek(source, 0, SEEK_SET);
  void* handle = copy_file(source, file) ? dlopen(name.c_str(), flags) : nullptr;
  unlink(name.c_str());
  close(file);
  return handle;
}

}  // namespace

void* load_private_copy(const std::string& path, int flags) {
  flags |= RTLD_NOW | RTLD_LOCAL;
  const int source = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (source < 0) return nullptr;
  void* handle = nullptr;
  const int memory = memfd_create("headrace", MFD_CLOEXEC);
  if (memory >= 0 && copy_file(source, memory)) {
    // The descriptor stays open: glibc takes a name it has seen for the library it loaded then.
    handle = dlopen(("/proc/self/fd/" + std::to_string(memory)).c_str(), flags);
  }
  if (handle == nullptr) {
    if (memory >= 0) close(memory);
    handle = load_through_file(source, flags);
  }
  close(source);
  return handle;
}

}  // namespace headrace
