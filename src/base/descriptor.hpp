// An open file that closes itself.
#pragma once

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <system_error>

#include "base/error.hpp"

namespace headrace {

// Of an errno that a call on a file has left.
inline Error file_error(const std::string& what, int cause = errno) {
  return Error(what + ": " + std::generic_category().message(cause), cause);
}

class Descriptor {
 public:
  // As open(2), and not for programs that this process starts. Throws Error.
  Descriptor(std::string path, int flags, mode_t mode = 0)
      : path_(std::move(path)), descriptor_(::open(path_.c_str(), flags | O_CLOEXEC, mode)) {
    if (descriptor_ < 0) throw file_error(path_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() { ::close(descriptor_); }
  [[nodiscard]] int get() const { return descriptor_; }
  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] struct stat status() const {
    struct stat status{};
    if (::fstat(descriptor_, &status) != 0) throw file_error(path_);
    return status;
  }

 private:
  std::string path_;
  int descriptor_;
};

}  // namespace headrace
