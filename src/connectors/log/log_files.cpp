#include "connectors/log/log_files.hpp"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

#include "base/error.hpp"
#include "engine/device.hpp"

namespace headrace::log_layout {

using engine::log::Reader;

std::uint64_t bytes_of(const std::string& path) {
  std::error_code failure;
  const std::uint64_t bytes = std::filesystem::file_size(path, failure);
  if (failure) throw Error("log " + path + " cannot be read", failure.value());
  return bytes;
}

LogFile::LogFile(std::string path)
    : path_(std::move(path)),
      size_(bytes_of(path_)),
      reader_(std::make_unique<Reader>(engine::on_demand_device(path_), size_)) {}

LogFile::LogFile(std::string path, std::unique_ptr<engine::Device> log, std::uint64_t size)
    : path_(std::move(path)),
      size_(size),
      reader_(std::make_unique<Reader>(std::move(log), size_)) {}

void LogFile::read_on(std::uint64_t size) {
  size_ = size;
  reader_->read_on(size_);
}

bool is_of(const engine::log::LoggedDataset& logged, const H5O_token_t& token) {
  return std::memcmp(logged.token.data(), &token, logged.token.size()) == 0;
}

Token token_of(const H5O_token_t& token) {
  Token result{};
  std::memcpy(result.data(), &token, result.size());
  return result;
}

void add_parts(Parts& parts, const Reader& reader) {
  const auto& datasets = reader.index().datasets;
  for (std::uint32_t place = 0; place < datasets.size(); ++place)
    parts[datasets[place].token].push_back({&reader, place});
}

}  // namespace headrace::log_layout
