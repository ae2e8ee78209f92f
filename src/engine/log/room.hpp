// Whether there is room for a log and, at the same time, for what it holds where that belongs.
#pragma once

#include <sys/statvfs.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

namespace headrace::engine::log {

class Room {
 public:
  struct Wanted {
    std::uint64_t log = 0;    // bytes of it in all
    std::uint64_t there = 0;  // of these, what is there already
    std::uint64_t data = 0;   // that it holds, where that belongs
  };
  // `folder`: where the data is. `logs_in`: where the log is, if not there.
  Room(std::string folder, std::string logs_in)
      : folder_(std::move(folder)), logs_in_(std::move(logs_in)) {}

  // Whether so many bytes more find room for sure. Does not ask the system.
  bool take(std::uint64_t bytes) {
    if (bytes > left_) return false;
    left_ -= bytes;
    return true;
  }
  // Whether all of that does.
  bool holds(const Wanted& wanted) {
    if (logs_in_.empty()) return fits(folder_, wanted.log + wanted.data, wanted.there);
    if (!fits(logs_in_, wanted.log, wanted.there)) return false;
    const std::uint64_t left = left_;
    const bool holds = fits(folder_, wanted.data, 0);
    left_ = std::min(left_, left);
    return holds;
  }

 private:
  bool fits(const std::string& folder, std::uint64_t wanted, std::uint64_t there) {
    constexpr std::uint64_t kMetadata = 1 << 20;  // of HDF5, and more where there is more data
    struct statvfs status{};
    // A file system that does not tell its size is taken for large.
    const bool told = ::statvfs(folder.c_str(), &status) == 0 && status.f_blocks > 0;
    const std::uint64_t room = told ? status.f_bavail * status.f_frsize + there : kUnknown;
    const std::uint64_t all = wanted + wanted / 8 + kMetadata;
    left_ = all < room ? (room - all) / 16 : 0;
    return all <= room;
  }

  static constexpr std::uint64_t kUnknown = ~std::uint64_t{0} / 2;
  std::string folder_;
  std::string logs_in_;
  std::uint64_t left_ = 0;  // that may be wanted before the system is asked again
};

}  // namespace headrace::engine::log
