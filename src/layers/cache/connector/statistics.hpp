// What the connector did, for the report.
#pragma once

#include <cstdint>
#include <map>
#include <string_view>

namespace headrace::cache {

// Of parts of reads that lie in one chunk each.
struct Statistics {
  std::uint64_t hits = 0;
  std::uint64_t hit_bytes = 0;  // that the program got
  std::uint64_t filled = 0;     // chunks, which were decoded for that
  std::uint64_t filled_bytes = 0;
  std::uint64_t from_disk = 0;  // chunks, in place of decoding them
  std::uint64_t from_disk_bytes = 0;
  std::uint64_t awaited = 0;  // chunks that another process decoded meanwhile
  // Reads of datasets that were left to HDF5, by the reason; names are literals.
  std::map<std::string_view, std::uint64_t> left;
};

// The program's thread only.
Statistics& statistics();

// Writes them into the report and starts counting anew.
void report_statistics();

}  // namespace headrace::cache
