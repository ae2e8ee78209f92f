#include "engine/io/file_identity.hpp"

#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/stat.h>

namespace headrace::engine::io {

std::optional<FileIdentity> identity_of(int descriptor) {
  struct stat status{};
  if (::fstat(descriptor, &status) != 0) return std::nullopt;
  unsigned generation = 0;
  if (::ioctl(descriptor, FS_IOC_GETVERSION, &generation) != 0) generation = 0;
  return FileIdentity{status.st_dev, status.st_ino, generation};
}

}  // namespace headrace::engine::io
