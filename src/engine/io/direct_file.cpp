#include <fcntl.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <utility>

#include "base/error.hpp"
#include "engine/io/file.hpp"

namespace headrace::engine::io {
namespace {

using Bytes = std::span<const std::byte>;

// Of offsets, sizes and addresses; no disk that Linux drives wants more.
constexpr std::size_t kAlignment = 4096;

bool is_aligned(std::uint64_t value) { return value % kAlignment == 0; }

// Whether the system said that it cannot do that here, not that it failed.
bool is_refusal(int cause) { return cause == EINVAL || cause == EOPNOTSUPP; }

// The direct descriptor goes past the page cache, the other one through it. The system keeps them
// coherent, unless a write through the cache dirties the very memory that a direct one nearby makes
// invalid: so the two do not happen at the same time.
class DirectFile final : public File {
 public:
  DirectFile(std::unique_ptr<File> cached, int descriptor, std::string name, Refused refused)
      : cached_(std::move(cached)),
        descriptor_(descriptor),
        name_(std::move(name)),
        refused_(std::move(refused)) {}
  DirectFile(const DirectFile&) = delete;
  DirectFile& operator=(const DirectFile&) = delete;
  ~DirectFile() override { ::close(descriptor_); }

  void write(std::uint64_t offset, std::span<const Bytes> pieces) override {
    while (!pieces.empty()) {
      const bool direct = goes_directly(offset, pieces.front());
      std::uint64_t size = 0;
      std::size_t count = 0;
      while (count < pieces.size() && count < kMostPieces &&
             goes_directly(offset + size, pieces[count]) == direct)
        size += pieces[count++].size();
      if (direct)
        write_directly(offset, pieces.first(count));
      else
        write_cached(offset, pieces.first(count));
      offset += size;
      pieces = pieces.subspan(count);
    }
  }

  void read(std::uint64_t offset, std::span<std::byte> bytes) override {
    cached_->read(offset, bytes);
  }
  void read_pieces(std::uint64_t offset, std::span<const std::span<std::byte>> pieces) override {
    cached_->read_pieces(offset, pieces);
  }
  void sync() override { cached_->sync(); }
  void resize(std::uint64_t size) override {
    const std::unique_lock lock(mutex_);
    cached_->resize(size);
  }

 private:
  static constexpr std::size_t kMostPieces = 64;

  [[nodiscard]] bool goes_directly(std::uint64_t offset, Bytes piece) const {
    return on_ && is_aligned(offset) && is_aligned(piece.size()) &&
           is_aligned(reinterpret_cast<std::uintptr_t>(piece.data()));
  }

  void write_cached(std::uint64_t offset, std::span<const Bytes> pieces) {
    const std::unique_lock lock(mutex_);
    cached_->write(offset, pieces);
  }

  void write_directly(std::uint64_t offset, std::span<const Bytes> pieces) {
    std::array<iovec, kMostPieces> vector;
    std::ranges::transform(pieces, vector.begin(), [](Bytes piece) {
      return iovec{const_cast<std::byte*>(piece.data()), piece.size()};
    });
    ssize_t done = 0;
    {
      const std::shared_lock lock(mutex_);
      do
        done = ::pwritev(descriptor_, vector.data(), static_cast<int>(pieces.size()),
                         static_cast<off_t>(offset));
      while (done < 0 && errno == EINTR);
    }
    const int cause = done < 0 ? errno : 0;
    if (is_refusal(cause)) {
      if (on_.exchange(false)) refused_("write of file " + name_ + ": " + std::strerror(cause));
    } else if (cause != 0) {
      throw Error("direct write of file " + name_ + " at offset " + std::to_string(offset) +
                      " failed: " + std::strerror(cause),
                  cause);
    }
    write_rest(offset, pieces, static_cast<std::uint64_t>(std::max<ssize_t>(done, 0)));
  }

  // What the system has not taken; it says why when it is asked again.
  void write_rest(std::uint64_t offset, std::span<const Bytes> pieces, std::uint64_t done) {
    offset += done;
    for (Bytes piece : pieces) {
      const std::size_t skipped = std::min<std::uint64_t>(piece.size(), done);
      done -= skipped;
      piece = piece.subspan(skipped);
      if (piece.empty()) continue;
      write_cached(offset, std::span(&piece, 1));
      offset += piece.size();
    }
  }

  std::unique_ptr<File> cached_;
  int descriptor_;
  std::string name_;
  Refused refused_;
  std::atomic<bool> on_{true};
  std::shared_mutex mutex_;  // shared by direct writes
};

bool same_file(int a, int b) {
  struct stat of_a{};
  struct stat of_b{};
  return ::fstat(a, &of_a) == 0 && ::fstat(b, &of_b) == 0 && of_a.st_dev == of_b.st_dev &&
         of_a.st_ino == of_b.st_ino;
}

}  // namespace

std::unique_ptr<File> direct_file(int descriptor, const char* name, const Refused& refused) {
  std::unique_ptr<File> cached = posix_file(descriptor, name);
  const std::string link = "/proc/self/fd/" + std::to_string(descriptor);
  constexpr int kFlags = O_WRONLY | O_DIRECT | O_CLOEXEC;
  int direct = ::open(link.c_str(), kFlags);
  if (direct < 0 && errno == ENOENT) direct = ::open(name, kFlags);  // no /proc
  if (direct >= 0 && same_file(direct, descriptor))
    return std::make_unique<DirectFile>(std::move(cached), direct, name, refused);
  refused("opening file " + std::string(name) + ": " +
          (direct < 0 ? std::strerror(errno) : "another file has its name"));
  if (direct >= 0) ::close(direct);
  return cached;
}

}  // namespace headrace::engine::io
