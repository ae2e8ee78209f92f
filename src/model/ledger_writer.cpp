#include "model/ledger_writer.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/error.hpp"

namespace headrace::model {
namespace {

constexpr std::size_t kBuffered = 32768;  // records: 1.8 MiB a file

std::string last_part(const std::string& path) {
  const auto slash = path.find_last_of('/');
  return path.substr(slash == std::string::npos ? 0 : slash + 1, 100);
}

}  // namespace

LedgerWriter::LedgerWriter(std::string directory, Header header)
    : directory_(std::move(directory)), header_(std::move(header)) {}

LedgerWriter::~LedgerWriter() {
  if (fd_ >= 0) ::close(fd_);
}

void LedgerWriter::fail(const std::string& what, int error_number) {
  given_up_ = true;
  buffer_ = {};
  throw Error("ledger " + what + ": " + std::strerror(error_number), error_number);
}

void LedgerWriter::create() {
  static std::atomic<unsigned> number = 0;
  ::mkdir(directory_.c_str(), 0777);
  // Never over another one: processes of several machines may share the folder.
  do {
    path_ = directory_ + '/' + last_part(header_.file) + '.' + header_.host + '.' +
            std::to_string(header_.pid) + '.' + std::to_string(++number) + ".ledger";
    fd_ = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  } while (fd_ < 0 && errno == EEXIST);
  if (fd_ < 0) fail(path_, errno);
  const std::vector<std::byte> bytes = encode(header_, kOpen);
  write(bytes.data(), bytes.size());
}

void LedgerWriter::write(const std::byte* bytes, std::size_t size) {
  while (size > 0) {
    const ssize_t done = ::write(fd_, bytes, size);
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) fail(path_, errno);
    bytes += done;
    size -= static_cast<std::size_t>(done);
  }
}

void LedgerWriter::spill() {
  if (fd_ < 0) create();
  std::vector<std::byte> bytes(buffer_.size() * kRecordBytes);
  for (std::size_t i = 0; i < buffer_.size(); ++i)
    encode(buffer_[i],
           std::span<std::byte, kRecordBytes>(bytes.data() + i * kRecordBytes, kRecordBytes));
  write(bytes.data(), bytes.size());
  written_ += buffer_.size();
  buffer_.clear();
}

void LedgerWriter::add(const Record& record) {
  if (given_up_) return;
  buffer_.push_back(record);
  if (buffer_.size() >= kBuffered) spill();
}

void LedgerWriter::close() {
  if (given_up_ || (buffer_.empty() && fd_ < 0)) return;
  spill();
  // The count says that the ledger is whole.
  std::array<std::byte, sizeof(written_)> count{};
  for (std::size_t i = 0; i < count.size(); ++i)
    count.at(i) = static_cast<std::byte>(written_ >> (8 * i));
  if (::pwrite(fd_, count.data(), count.size(), kCountOffset) < 0) fail(path_, errno);
  if (::close(std::exchange(fd_, -1)) != 0) fail(path_, errno);
}

}  // namespace headrace::model
