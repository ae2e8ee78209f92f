#include "connectors/log/log_files.hpp"

#include <unistd.h>

#include <cstring>
#include <utility>

#include "connectors/log/sidecar.hpp"

namespace headrace::log_layout {

using engine::log::Reader;

LogFile::LogFile(int descriptor, std::string path)
    : descriptor_(descriptor), path_(std::move(path)) {
  try {
    size_ = size_of(descriptor_);
    reader_ = std::make_unique<Reader>(engine::posix_device(descriptor_, path_.c_str()), size_);
  } catch (...) {
    ::close(descriptor_);
    throw;
  }
}

LogFile::LogFile(LogFile&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)),
      path_(std::move(other.path_)),
      size_(other.size_),
      reader_(std::move(other.reader_)) {}

LogFile::~LogFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

void LogFile::read_on() {
  size_ = size_of(descriptor_);
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
