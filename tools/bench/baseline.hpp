// The raw limit: as many bytes through pwrite and pread, in the same folder, in the same run.
#pragma once

#include "run.hpp"

namespace headrace::bench {

struct Baseline {
  double write = 0;  // seconds from open to close of the slowest rank, fsync included with --sync
  double read = 0;
  std::uint64_t bytes = 0;  // over all ranks
};

// Each rank writes its share of `bytes` to its own region of one file, or to those of several one
// after the other, in pieces of 8 MiB, and reads it back; the files are removed. Collective. Throws
// Error with path and cause.
Baseline measure_baseline(World& world, const Options& options, const std::string& folder,
                          std::uint64_t bytes);

}  // namespace headrace::bench
