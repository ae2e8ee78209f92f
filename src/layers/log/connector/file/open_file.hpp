// A file that logs are for, as the program has opened it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

#include "vol/file/file_facts.hpp"

namespace headrace::log_layout {

struct OpenFile {
  vol::BelowFile below;
  std::string path;
  bool sync = false;            // whether data is to survive a power cut
  std::uint64_t budget = 0;     // memory for a log, in bytes
  std::string logs_in;          // a folder of the node's own storage; none: beside the file
  std::uint64_t bandwidth = 0;  // of who puts earlier logs in order, see Throttle

  // What of it is for data that is not in the log yet, and for what tells where logged data
  // belongs: writing that out, or reading through it, takes as much again.
  [[nodiscard]] std::uint64_t for_data() const { return (budget + 1) / 2; }
  [[nodiscard]] std::uint64_t for_index() const {
    constexpr std::uint64_t kLeast = 1 << 20;
    return std::max(budget / 8, kLeast);
  }
};

}  // namespace headrace::log_layout
