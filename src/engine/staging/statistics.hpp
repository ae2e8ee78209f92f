// What staging did for one file.
#pragma once

#include <cstdint>

namespace headrace::engine {

struct StagingStatistics {
  std::uint64_t writes = 0;          // calls
  std::uint64_t bytes = 0;           // written by the program
  std::uint64_t absorbed = 0;        // of these, bytes that replaced staged ones
  std::uint64_t direct = 0;          // of these, bytes that were written without being staged
  std::uint64_t lent = 0;            // of these, bytes that were not copied
  std::uint64_t storage_writes = 0;  // by workers and helpers
  std::uint64_t storage_bytes = 0;
  std::uint64_t storage_time = 0;  // nanoseconds of these, added up over threads
  std::uint64_t blocked = 0;       // nanoseconds in which the program waited for memory or a drain
};

// Bytes that were rewritten in memory count once.
struct StagingProgress {
  std::uint64_t accepted = 0;  // bytes written by the program
  std::uint64_t staged = 0;    // of these, bytes that are not in the file yet
};

}  // namespace headrace::engine
