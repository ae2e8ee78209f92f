// The file that a process writes its trace to: segments with checksums, see docs/formats/trace.md.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "layers/trace/recorder/tables.hpp"

namespace headrace::trace {

// One thread at a time.
class TraceFile {
 public:
  // Makes the folder where it is missing, and a new file in it that nobody but the user can read.
  // Throws Error.
  explicit TraceFile(const std::string& folder);
  TraceFile(const TraceFile&) = delete;
  TraceFile& operator=(const TraceFile&) = delete;
  ~TraceFile();

  // Appends a segment, by one write. Throws Error; what was written of the segment is cut off then.
  void append(Table table, std::uint32_t rows, std::string_view contents);

  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  [[nodiscard]] bool is_open() const;

  std::string path_;
  int descriptor_ = -1;
  std::pair<std::uint64_t, std::uint64_t> identity_;  // of the file: its device and inode
  std::uint64_t size_ = 0;
};

}  // namespace headrace::trace
