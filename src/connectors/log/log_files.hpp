// Logs that are open for reading, and what they hold by dataset.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "engine/log/reader.hpp"
#include "hdf5/api.hpp"

namespace headrace::log_layout {

// Throws Error.
std::uint64_t bytes_of(const std::string& path);

class LogFile {
 public:
  // Throws Error when the log cannot be read.
  explicit LogFile(std::string path);
  // The same of one that so many bytes of are known to be there. `path`: for errors.
  LogFile(std::string path, std::unique_ptr<engine::Device> log, std::uint64_t size);

  // The same when that are more. What points into the index is invalid then.
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

// A dataset in a log. The reader must outlive it.
struct Part {
  const engine::log::Reader* reader;
  std::uint32_t place;
  std::uint64_t end = ~std::uint64_t{0};  // the first epoch that no flush has covered
  [[nodiscard]] const engine::log::LoggedDataset& logged() const {
    return reader->index().datasets[place];
  }
};

bool is_of(const engine::log::LoggedDataset& logged, const H5O_token_t& token);

// By the dataset's token in the file; the parts in the order of the logs.
using Token = std::array<std::byte, 16>;
using Parts = std::map<Token, std::vector<Part>>;

Token token_of(const H5O_token_t& token);
void add_parts(Parts& parts, const engine::log::Reader& reader);

}  // namespace headrace::log_layout
