#include "base/process/private_copy.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string>

namespace headrace {
namespace {

// The bytes of the file up to the last that is loaded; 0 when it is no shared object of this
// machine. See elf(5).
off_t loaded_size(int file) {
  ElfW(Ehdr) header{};
  if (pread(file, &header, sizeof header, 0) != sizeof header ||
      std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_phentsize != sizeof(ElfW(Phdr)))
    return 0;
  std::uint64_t size = 0;
  for (unsigned i = 0; i < header.e_phnum; ++i) {
    ElfW(Phdr) segment{};
    const auto place = static_cast<off_t>(header.e_phoff + i * sizeof segment);
    if (pread(file, &segment, sizeof segment, place) != sizeof segment) return 0;
    size = std::max<std::uint64_t>(size, segment.p_offset + segment.p_filesz);
  }
  return static_cast<off_t>(size);
}

bool copy_file(int from, int to, Copied part) {
  struct stat status{};
  if (fstat(from, &status) != 0) return false;
  off_t left = status.st_size;
  if (part == Copied::loaded) left = std::min(left, loaded_size(from));
  if (left <= 0) return false;
  while (left > 0) {
    const ssize_t sent = sendfile(to, from, nullptr, static_cast<std::size_t>(left));
    if (sent <= 0) return false;
    left -= sent;
  }
  return true;
}

// glibc takes a name it has seen for the library that it loaded then, whatever it is the name of
// now.
std::string unseen_name(int file) {
  std::string folder = "/proc/self/";
  for (;; folder += "./") {
    const std::string name = folder + "fd/" + std::to_string(file);
    void* const seen = dlopen(name.c_str(), RTLD_LAZY | RTLD_NOLOAD);
    if (seen == nullptr) return name;
    dlclose(seen);
  }
}

// Where memory files are forbidden or may not be executed: a temporary file, unlinked once loaded.
void* load_through_file(int source, int flags, Copied part) {
  const char* folder = std::getenv("TMPDIR");
  std::string name = std::string(folder == nullptr ? "/tmp" : folder) + "/headrace-XXXXXX";
  const int file = mkstemp(name.data());
  if (file < 0) return nullptr;
  lseek(source, 0, SEEK_SET);
  void* handle = copy_file(source, file, part) ? dlopen(name.c_str(), flags) : nullptr;
  unlink(name.c_str());
  close(file);
  return handle;
}

}  // namespace

void* load_private_copy(const std::string& path, int flags, Copied part) {
  flags |= RTLD_NOW | RTLD_LOCAL;
  const int source = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (source < 0) return nullptr;
  void* handle = nullptr;
  const int memory = memfd_create("headrace", MFD_CLOEXEC);
  if (memory >= 0 && copy_file(source, memory, part))
    handle = dlopen(unseen_name(memory).c_str(), flags);
  if (memory >= 0) close(memory);
  if (handle == nullptr) handle = load_through_file(source, flags, part);
  close(source);
  return handle;
}

}  // namespace headrace
