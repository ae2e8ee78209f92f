// A lock of many readers or one writer, of threads and processes, on a file.
//
// It is of open file descriptions: it goes with the process that has it, even if that is killed,
// and what else the process does with the file changes nothing (POSIX locks go with any close of
// it). A writer that waits lets no more readers in. Any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <vector>

#include "base/descriptor.hpp"

namespace headrace::store {

class FileLocks {
 public:
  // `path`: a file that is made where it is not there.
  explicit FileLocks(std::string path) : path_(std::move(path)) {}
  FileLocks(const FileLocks&) = delete;
  FileLocks& operator=(const FileLocks&) = delete;
  ~FileLocks();

  // Throw Error.
  void lock() { lock_as(/*alone=*/true); }
  void lock_shared() { lock_as(/*alone=*/false); }
  void unlock() { unlock_as(/*alone=*/true); }
  void unlock_shared() { unlock_as(/*alone=*/false); }

 private:
  void lock_as(bool alone);
  void unlock_as(bool alone);
  int take_descriptor();
  void drop_descriptor(int descriptor);

  std::string path_;
  // Held with the file's lock: between the threads of a process it orders what the system's lock
  // does.
  std::shared_mutex order_;
  std::mutex mutex_;
  std::vector<int> free_;  // descriptors, each of a description of its own
  std::vector<int> shared_;
  int alone_ = -1;
  std::size_t made_ = 0;  // descriptors, free or not
};

// Locks a byte of a file, which is made where it is not there, for many or for one alone, until the
// descriptor is closed; in the children of its process, too. Null where others have locked it so
// that both cannot. Throws Error.
std::shared_ptr<const Descriptor> lock_byte(const std::string& path, std::uint64_t byte,
                                            bool alone);

}  // namespace headrace::store
