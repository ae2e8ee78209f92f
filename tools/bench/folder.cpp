#include "folder.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <vector>

#include "base/error.hpp"

namespace headrace::bench {
namespace {

namespace fs = std::filesystem;

// Tells our folders from those of others.
constexpr const char* kMark = ".headrace-bench";

[[noreturn]] void fail(const std::string& path, const char* what) {
  throw Error(path + ": " + what + ": " + std::strerror(errno), errno);
}

void remove_ours(const std::string& path) {
  if (!fs::exists(path)) return;
  if (!fs::exists(fs::path(path) / kMark))
    throw Error(path + ": exists and was not made by headrace-bench; move it away");
  std::error_code error;
  fs::remove_all(path, error);
  if (error) throw Error(path + ": cannot be removed: " + error.message(), error.value());
}

class File {
 public:
  explicit File(const std::string& path) : fd_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
    if (fd_ < 0) fail(path, "cannot be opened");
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  ~File() { ::close(fd_); }
  [[nodiscard]] int get() const { return fd_; }

 private:
  int fd_;
};

template <typename Action>
void for_each_file(const std::string& folder, const Action& action) {
  for (const auto& entry : fs::recursive_directory_iterator(folder))
    if (entry.is_regular_file()) action(entry.path().string());
}

// Whether no page of the file is in memory.
bool out_of_memory_cache(int fd, std::size_t size) {
  if (size == 0) return true;
  void* map = mmap(nullptr, size, PROT_READ, MAP_SHARED, fd, 0);
  if (map == MAP_FAILED) return false;
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  std::vector<unsigned char> pages((size + page - 1) / page);
  bool out = mincore(map, size, pages.data()) == 0;
  for (const unsigned char each : pages) out = out && (each & 1U) == 0;
  munmap(map, size);
  return out;
}

}  // namespace

void CaseFolder::make() const {
  remove_ours(partial_);
  remove_ours(whole_);
  std::error_code error;
  fs::create_directory(partial_, error);
  if (error) throw Error(partial_ + ": cannot be made: " + error.message(), error.value());
  if (!std::ofstream(fs::path(partial_) / kMark)) fail(partial_, "cannot be written to");
}

std::uint64_t CaseFolder::bytes() const {
  std::uint64_t sum = 0;
  for_each_file(place_, [&](const std::string& path) { sum += fs::file_size(path); });
  return sum;
}

void CaseFolder::sync() const {
  for_each_file(place_, [](const std::string& path) {
    if (fsync(File(path).get()) != 0) fail(path, "fsync");
  });
}

void CaseFolder::settle() const {
  if (syncfs(File(place_).get()) != 0) fail(place_, "syncfs");
}

bool CaseFolder::drop_caches() const {
  bool dropped = true;
  for_each_file(place_, [&](const std::string& path) {
    const File file(path);
    // Dirty pages cannot be dropped.
    if (fsync(file.get()) != 0) fail(path, "fsync");
    posix_fadvise(file.get(), 0, 0, POSIX_FADV_DONTNEED);
    dropped = out_of_memory_cache(file.get(), fs::file_size(path)) && dropped;
  });
  return dropped;
}

void CaseFolder::finish() const {
  std::error_code error;
  fs::rename(partial_, whole_, error);
  if (error) throw Error(partial_ + ": cannot be renamed: " + error.message(), error.value());
}

void CaseFolder::remove() const { remove_ours(whole_); }

}  // namespace headrace::bench
