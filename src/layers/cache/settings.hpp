// The options of the cache layer.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <string>

#include "base/settings/settings.hpp"

namespace headrace::cache {

inline constexpr std::array kSettings{
    Setting{
        "memory", "HEADRACE_CACHE_MEMORY", Type::size, "", "bytes", "0",
        "Memory for decoded chunks, of all processes of the user on the node together; 0 is a "
        "quarter of the machine's, or of what its control group leaves a process; where /dev/shm "
        "is large enough for that, at most half of what it has free. The first process that "
        "needs it decides."},
    Setting{
        "path", "HEADRACE_CACHE_PATH", Type::path, "", "", "",
        "A folder on the node's own disk, in which decoded chunks are kept over runs, too; none "
        "are without one."},
    Setting{
        "size", "HEADRACE_CACHE_SIZE", Type::size, "", "bytes", "0",
        "Room for chunks in `path`, of all programs of the user; 0 is a quarter of what the disk "
        "has left. The first program that keeps chunks there decides."},
    Setting{"linger", "HEADRACE_CACHE_LINGER", Type::duration, "", "", "60s",
            "How long chunks stay that no process uses any more. The next process that starts "
            "after that frees them."},
    Setting{"settle", "HEADRACE_CACHE_SETTLE", Type::duration, "", "", "2s",
            "How long ago a file must have changed last for its chunks to be kept: two changes "
            "within one step of the file system's clock look like one. 0 where these steps are "
            "nanoseconds, as since Linux 6.13 on ext4, XFS, Btrfs and tmpfs."},
    Setting{"network", "HEADRACE_CACHE_NETWORK", Type::boolean, "", "", "false",
            "Keep chunks of files on network file systems and FUSE, too, where what other nodes "
            "write is seen only as soon as the file system shows another size or time."},
    Setting{"contiguous", "HEADRACE_CACHE_CONTIGUOUS", Type::boolean, "", "", "false",
            "Keep blocks of contiguous datasets, too, as chunks without filters are: from the "
            "second time on that they are read, or the first where storage is slow. What others "
            "write to a file that is open is not seen then."},
};

struct CacheOptions {
  // Throws Error for a malformed value.
  explicit CacheOptions(const Options& given)
      : memory(number_of(kSettings, "memory", given)),
        path(value_of(kSettings, "path", given)),
        size(number_of(kSettings, "size", given)),
        linger(number_of(kSettings, "linger", given)),
        settle(number_of(kSettings, "settle", given)),
        network(is_on(kSettings, "network", given)),
        contiguous(is_on(kSettings, "contiguous", given)) {}

  std::uint64_t memory;  // bytes
  std::string path;
  std::uint64_t size;  // bytes
  std::chrono::nanoseconds linger;
  std::chrono::nanoseconds settle;
  bool network;
  bool contiguous;
};

}  // namespace headrace::cache
