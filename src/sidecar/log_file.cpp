#include "sidecar/log_file.hpp"

#include <filesystem>
#include <utility>

#include "base/error.hpp"
#include "engine/io/file.hpp"
#include "engine/io/reopened_file.hpp"

namespace headrace::sidecar {

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
      reader_(std::make_unique<Reader>(std::make_unique<engine::io::ReopenedFile>(path_), size_)) {}

LogFile::LogFile(std::string path, std::unique_ptr<engine::io::File> log, std::uint64_t size)
    : path_(std::move(path)),
      size_(size),
      reader_(std::make_unique<Reader>(std::move(log), size_)) {}

void LogFile::read_on(std::uint64_t size) {
  size_ = size;
  reader_->read_on(size_);
}

}  // namespace headrace::sidecar
