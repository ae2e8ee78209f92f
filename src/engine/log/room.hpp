// Whether a file system has room for a log and, at the same time, for what it holds where that
// belongs.
#pragma once

#include <sys/statvfs.h>

#include <cstdint>
#include <string>
#include <utility>

namespace headrace::engine::log {

class Room {
 public:
  // `folder`: where both are; of a log elsewhere nothing is asked for.
  explicit Room(std::string folder) : folder_(std::move(folder)) {}

  // Whether so many bytes more find room for sure. Does not ask the system.
  bool take(std::uint64_t bytes) {
    if (bytes > left_) return false;
    left_ -= bytes;
    return true;
  }
  // Whether `wanted` bytes do in all, `there` of which are there already.
  bool holds(std::uint64_t wanted, std::uint64_t there) {
    constexpr std::uint64_t kMetadata = 1 << 20;  // of HDF5, and more where there is more data
    struct statvfs status{};
    // A file system that does not tell its size is taken for large.
    const bool told = ::statvfs(folder_.c_str(), &status) == 0 && status.f_blocks > 0;
    const std::uint64_t room = told ? status.f_bavail * status.f_frsize + there : kUnknown;
    const std::uint64_t all = wanted + wanted / 8 + kMetadata;
    left_ = all < room ? (room - all) / 16 : 0;
    return all <= room;
  }

 private:
  static constexpr std::uint64_t kUnknown = ~std::uint64_t{0} / 2;
  std::string folder_;
  std::uint64_t left_ = 0;  // that may be wanted before the system is asked again
};

}  // namespace headrace::engine::log
