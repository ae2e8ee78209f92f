// A log that is open for reading. No HDF5.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "engine/log/reader.hpp"

namespace headrace::sidecar {

// The size of a log. Throws Error.
std::uint64_t bytes_of(const std::string& path);

class LogFile {
 public:
  // Throws Error when the log cannot be read.
  explicit LogFile(std::string path);
  // A log whose first `size` bytes are known to be there. `path`: for errors.
  LogFile(std::string path, std::unique_ptr<engine::io::File> log, std::uint64_t size);

  // Reads what has been appended since, up to `size` bytes. What points into the index is invalid
  // then. Throws Error.
  void read_on(std::uint64_t size);
  [[nodiscard]] const engine::log::Reader& reader() const { return *reader_; }
  [[nodiscard]] const std::string& path() const { return path_; }
  // In bytes, when it was last read.
  [[nodiscard]] std::uint64_t size() const { return size_; }

 private:
  std::string path_;
  std::uint64_t size_;
  std::unique_ptr<engine::log::Reader> reader_;
};

}  // namespace headrace::sidecar
