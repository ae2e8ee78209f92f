// The copy of a file that a log is put in order in.
#pragma once

#include <sys/stat.h>

#include <string>

namespace headrace::replay {

// An open file that closes itself.
class Descriptor {
 public:
  // Throws Error.
  Descriptor(const std::string& path, int flags, mode_t mode = 0);
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor();
  [[nodiscard]] int get() const { return descriptor_; }
  [[nodiscard]] struct stat status() const;

 private:
  std::string path_;
  int descriptor_;
};

// Throws Error when that fails.
void sync(const std::string& path);

// All of one file in another one that is empty, and who may do what with it: with the same owner,
// mode, attributes and holes. Throws Error.
void copy(const Descriptor& from, const Descriptor& to);

}  // namespace headrace::replay
