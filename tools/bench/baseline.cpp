#include "baseline.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "base/error.hpp"

namespace headrace::bench {
namespace {

constexpr std::size_t kPiece = std::size_t{8} << 20U;

class RawFile {
 public:
  RawFile(std::string path, int flags)
      : path_(std::move(path)), fd_(::open(path_.c_str(), flags | O_CLOEXEC, 0666)) {
    if (fd_ < 0) fail("open");
  }
  RawFile(const RawFile&) = delete;
  RawFile& operator=(const RawFile&) = delete;
  ~RawFile() { ::close(fd_); }

  // `transfer` is pwrite or pread.
  template <typename Transfer, typename Byte>
  void move(Transfer transfer, const char* what, Byte* buffer, std::uint64_t first,
            std::uint64_t size) const {
    for (std::uint64_t done = 0; done < size;) {
      const auto piece = static_cast<std::size_t>(std::min<std::uint64_t>(kPiece, size - done));
      const ssize_t moved = transfer(fd_, buffer, piece, static_cast<off_t>(first + done));
      if (moved <= 0) fail(what);
      done += static_cast<std::uint64_t>(moved);
    }
  }
  void sync() const {
    if (fsync(fd_) != 0) fail("fsync");
  }
  void forget() const { posix_fadvise(fd_, 0, 0, POSIX_FADV_DONTNEED); }

 private:
  [[noreturn]] void fail(const char* what) const {
    throw Error(path_ + ": " + what + ": " + std::strerror(errno), errno);
  }
  std::string path_;
  int fd_;
};

template <typename Work>
double slowest(World& world, const Work& work) {
  world.ranks().barrier();
  const auto start = std::chrono::steady_clock::now();
  work();
  return world.largest(
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
}

}  // namespace

Baseline measure_baseline(World& world, const Options& options, const std::string& folder,
                          std::uint64_t bytes) {
  const auto ranks = static_cast<std::uint64_t>(world.size());
  const std::uint64_t files = options.baseline_files;
  const std::uint64_t share = bytes / ranks / files;  // of a rank in each file
  const std::uint64_t first = share * static_cast<std::uint64_t>(world.rank());
  std::vector<std::string> paths;
  paths.reserve(files);
  for (std::uint64_t number = 0; number < files; ++number)
    paths.push_back(folder + "/raw" + std::to_string(number));
  std::vector<std::uint64_t> buffer(kPiece / sizeof(std::uint64_t));
  fill<std::uint64_t>(buffer, key_of("raw"), first);
  Baseline result;
  result.bytes = share * ranks * files;
  result.write = slowest(world, [&] {
    for (const std::string& path : paths) {
      const RawFile file(path, O_WRONLY | O_CREAT);
      file.move(&::pwrite, "pwrite", static_cast<const void*>(buffer.data()), first, share);
      if (options.sync) file.sync();
    }
  });
  world.ranks().barrier();
  for (const std::string& path : paths) {
    if (!options.drop_caches) break;
    const RawFile file(path, O_RDWR);
    file.sync();
    file.forget();
  }
  if (!options.no_read)
    result.read = slowest(world, [&] {
      for (const std::string& path : paths) {
        const RawFile file(path, O_RDONLY);
        file.move(&::pread, "pread", static_cast<void*>(buffer.data()), first, share);
      }
    });
  world.on_first([&] {
    for (const std::string& path : paths) ::unlink(path.c_str());
  });
  return result;
}

}  // namespace headrace::bench
