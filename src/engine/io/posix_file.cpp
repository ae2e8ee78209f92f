#include <fcntl.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "engine/io/file.hpp"

namespace headrace::engine::io {
namespace {

// The next pieces, as many as the system takes at once.
template <typename Byte>
std::vector<iovec> take(std::span<const std::span<Byte>>& pieces) {
  const std::size_t count = std::min(pieces.size(), std::size_t{256});
  std::vector<iovec> vector;
  vector.reserve(count);
  for (const std::span<Byte> piece : pieces.first(count))
    if (!piece.empty()) vector.push_back({const_cast<std::byte*>(piece.data()), piece.size()});
  pieces = pieces.subspan(count);
  return vector;
}

// What is left of them after so many bytes.
std::span<iovec> rest(std::span<iovec> vector, std::size_t done) {
  while (!vector.empty() && done >= vector.front().iov_len) {
    done -= vector.front().iov_len;
    vector = vector.subspan(1);
  }
  if (vector.empty()) return vector;
  vector.front().iov_base = static_cast<char*>(vector.front().iov_base) + done;
  vector.front().iov_len -= done;
  return vector;
}

class PosixFile : public File {
 public:
  PosixFile(int descriptor, const char* name) : descriptor_(descriptor), name_(name) {}

  void write(std::uint64_t offset, std::span<const std::span<const std::byte>> pieces) override {
    while (!pieces.empty()) {
      std::vector<iovec> vector = take(pieces);
      offset += write_all(offset, vector);
    }
  }

  void read(std::uint64_t offset, std::span<std::byte> bytes) override {
    if (bytes.empty()) return;
    iovec all{bytes.data(), bytes.size()};
    read_all(offset, {&all, 1});
  }

  void read_pieces(std::uint64_t offset, std::span<const std::span<std::byte>> pieces) override {
    while (!pieces.empty()) {
      std::vector<iovec> vector = take(pieces);
      offset += read_all(offset, vector);
    }
  }

  void sync() override {
    if (::fsync(descriptor_) < 0) fail("sync", 0);
  }

  void resize(std::uint64_t size) override {
    while (::ftruncate(descriptor_, static_cast<off_t>(size)) < 0)
      if (errno != EINTR) fail("resize", size);
  }

 private:
  std::uint64_t write_all(std::uint64_t offset, std::span<iovec> vector) {
    const std::uint64_t begin = offset;
    while (!vector.empty()) {
      const ssize_t done = ::pwritev(descriptor_, vector.data(), static_cast<int>(vector.size()),
                                     static_cast<off_t>(offset));
      if (done < 0 && errno == EINTR) continue;
      if (done < 0) fail("write", offset);
      offset += static_cast<std::uint64_t>(done);
      vector = rest(vector, static_cast<std::size_t>(done));
      if (done > 0 || vector.empty()) continue;
      errno = ENOSPC;  // a device that takes nothing any more
      fail("write", offset);
    }
    return offset - begin;
  }

  std::uint64_t read_all(std::uint64_t offset, std::span<iovec> vector) {
    const std::uint64_t begin = offset;
    while (!vector.empty()) {
      const ssize_t got = ::preadv(descriptor_, vector.data(), static_cast<int>(vector.size()),
                                   static_cast<off_t>(offset));
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) fail("read", offset);
      if (got == 0) break;
      offset += static_cast<std::uint64_t>(got);
      vector = rest(vector, static_cast<std::size_t>(got));
    }
    for (const iovec& beyond : vector) {
      std::memset(beyond.iov_base, 0, beyond.iov_len);
      offset += beyond.iov_len;
    }
    return offset - begin;
  }

  [[noreturn]] void fail(const char* what, std::uint64_t offset) const {
    const int cause = errno;
    throw Error(std::string(what) + " of file " + name_ + " at offset " + std::to_string(offset) +
                    " failed: " + std::strerror(cause),
                cause);
  }

  int descriptor_;
  std::string name_;
};

class Descriptor {
 public:
  explicit Descriptor(const char* name) : number_(::open(name, O_RDWR | O_CLOEXEC | O_NONBLOCK)) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  [[nodiscard]] int number() const { return number_; }
  [[nodiscard]] bool regular() const {
    struct stat status{};
    return number_ >= 0 && ::fstat(number_, &status) == 0 && S_ISREG(status.st_mode);
  }

 private:
  int number_;
};

class OwnPosixFile final : private Descriptor, public PosixFile {
 public:
  explicit OwnPosixFile(const char* name) : Descriptor(name), PosixFile(number(), name) {}
  using Descriptor::regular;
};

}  // namespace

std::unique_ptr<File> posix_file(int descriptor, const char* name) {
  return std::make_unique<PosixFile>(descriptor, name);
}

std::unique_ptr<File> posix_file(const char* name) {
  auto storage = std::make_unique<OwnPosixFile>(name);
  if (!storage->regular()) return {};
  return storage;
}

}  // namespace headrace::engine::io
