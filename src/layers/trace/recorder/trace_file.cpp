#include "layers/trace/recorder/trace_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <span>

#include "base/error.hpp"
#include "base/process/machine.hpp"
#include "base/process/size_signal.hpp"
#include "engine/checksum.hpp"
#include "engine/codec/zstd.hpp"
#include "layers/trace/recorder/columns.hpp"

namespace headrace::trace {
namespace {

constexpr std::string_view kMagic = "HRTS";
constexpr int kLevel = 1;

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

std::string segment(Table table, std::uint32_t rows, std::string_view contents) {
  const engine::Buffer stored = engine::zstd_compress(kLevel, bytes_of(contents));
  std::string body;
  put_number(body, static_cast<std::uint32_t>(table));
  put_number(body, rows);
  put_number(body, static_cast<std::uint32_t>(contents.size()));
  put_number(body, static_cast<std::uint32_t>(stored.size()));
  body.append(reinterpret_cast<const char*>(stored.data()), stored.size());
  std::string all(kMagic);
  put_number(all, engine::checksum(bytes_of(body)));
  return all + body;
}

Error failure(const std::string& path, int error) {
  return Error("trace " + path + ": " + std::strerror(error), error);
}

// Its name tells the machine and the process; a number comes where one is there already.
int make_file(const std::string& folder, std::string& path) {
  const std::string name = folder + '/' + host_name() + '.' + std::to_string(::getpid());
  for (int i = 0;; ++i) {
    path = name + (i == 0 ? "" : '.' + std::to_string(i)) + ".trace";
    const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (file >= 0) return file;
    if (errno != EEXIST) throw failure(path, errno);
  }
}

}  // namespace

TraceFile::TraceFile(const std::string& folder) {
  std::error_code error;
  if (std::filesystem::create_directories(folder, error); error)
    throw failure(folder, error.value());
  descriptor_ = make_file(folder, path_);
  struct stat file{};
  if (::fstat(descriptor_, &file) == 0) identity_ = {file.st_dev, file.st_ino};
}

// A program that closes all descriptors, to become a daemon say, may have a file of its own under
// this number since.
bool TraceFile::is_open() const {
  struct stat file{};
  return ::fstat(descriptor_, &file) == 0 && identity_ == std::pair(file.st_dev, file.st_ino);
}

TraceFile::~TraceFile() {
  if (is_open()) ::close(descriptor_);
}

void TraceFile::append(Table table, std::uint32_t rows, std::string_view contents) {
  const std::string all = segment(table, rows, contents);
  if (!is_open()) throw Error("trace " + path_ + ": the program has closed it", EBADF);
  const NoSizeSignal no_signal;
  for (std::size_t done = 0; done < all.size();) {
    const ssize_t written = ::write(descriptor_, all.data() + done, all.size() - done);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) {
      const int error = written < 0 ? errno : ENOSPC;
      [[maybe_unused]] const int cut = ::ftruncate(descriptor_, static_cast<off_t>(size_));
      throw failure(path_, error);
    }
    done += static_cast<std::size_t>(written);
  }
  size_ += all.size();
}

}  // namespace headrace::trace
