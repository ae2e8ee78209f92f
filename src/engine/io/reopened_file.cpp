#include "engine/io/reopened_file.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <list>
#include <mutex>
#include <system_error>
#include <utility>

#include "base/error.hpp"

namespace headrace::engine::io {

// Leaked: files are used while the process exits.
struct ReopenedFile::Open {
  std::mutex mutex;
  All files;  // that was opened first first
  // The limit was near. What is closed leaves low numbers free, so a new one tells nothing then.
  bool scarce = false;
};

namespace {

// Descriptors that are left for others: the lowest free one is given out, so the number of a new
// one tells how many are in use.
constexpr rlim_t kLeft = 4;

// How many files the process may have open.
rlim_t most_files() {
  rlimit limit{};
  return ::getrlimit(RLIMIT_NOFILE, &limit) == 0 ? limit.rlim_cur : RLIM_INFINITY;
}

bool is_near_limit(int descriptor) {
  return static_cast<rlim_t>(descriptor) + kLeft >= most_files();
}

}  // namespace

ReopenedFile::Open& ReopenedFile::open_ones() {
  static auto& open = *new Open;
  return open;
}

ReopenedFile::ReopenedFile(std::string path, bool writable)
    : path_(std::move(path)), writable_(writable) {
  open();
}

ReopenedFile::ReopenedFile(std::string path) : path_(std::move(path)), writable_(false) {}

ReopenedFile::~ReopenedFile() {
  Open& all = open_ones();
  const std::lock_guard lock(all.mutex);
  if (descriptor_ < 0) return;
  all.files.erase(listed_);
  close_descriptor();
}

template <typename Action>
void ReopenedFile::use(const Action& action) {
  while (true) {
    {
      const std::shared_lock lock(mutex_);
      if (descriptor_ >= 0) {
        used_.store(true, std::memory_order_relaxed);
        return action(*storage_);
      }
    }
    open();
  }
}

void ReopenedFile::open() {
  const std::unique_lock lock(mutex_);
  if (descriptor_ >= 0) return;
  const int flags = (writable_ ? O_RDWR : O_RDONLY) | O_CLOEXEC;
  descriptor_ = ::open(path_.c_str(), flags);
  if (descriptor_ < 0 && (errno == EMFILE || errno == ENFILE)) {
    close_others(kLeft);
    descriptor_ = ::open(path_.c_str(), flags);
  }
  if (descriptor_ < 0) {
    const int cause = errno;
    throw Error(path_ + " cannot be opened: " + std::strerror(cause), cause);
  }
  if (closed_) require(*closed_);
  storage_ = posix_file(descriptor_, path_.c_str());
  leave_room(is_near_limit(descriptor_));
  Open& all = open_ones();
  const std::lock_guard listed(all.mutex);
  listed_ = all.files.insert(all.files.end(), this);
}

// Of the file that was closed: another one may have its name by now.
void ReopenedFile::require(const FileIdentity& same) {
  if (identity_of(descriptor_) == same) return;
  close_descriptor();
  throw Error(path_ +
              " was replaced while it was closed, as the process has too many open files: raise "
              "the limit (ulimit -n)");
}

// By what the file is found again; the program may have changed its working folder, and others the
// file's name. False for a file without a name, which nobody finds.
bool ReopenedFile::note_place() {
  struct stat status{};
  if (::fstat(descriptor_, &status) != 0 || status.st_nlink == 0) return false;
  std::error_code failed;
  const auto place =
      std::filesystem::read_symlink("/proc/self/fd/" + std::to_string(descriptor_), failed);
  if (!failed) path_ = place.string();
  closed_ = identity_of(descriptor_);
  return !failed;
}

// For the one that is being opened, and for a file that the program opens with it.
void ReopenedFile::leave_room(bool near_limit) {
  constexpr std::size_t kForEach = 2;
  bool scarce = false;
  bool many = false;  // the program opens files without asking: half of them are for it
  {
    Open& all = open_ones();
    const std::lock_guard lock(all.mutex);
    if (near_limit) all.scarce = true;
    scarce = all.scarce;
    many = all.files.size() >= most_files() / 2;
    if (all.files.empty()) all.scarce = false;
  }
  if (scarce)
    close_others(near_limit ? kLeft : kForEach);
  else if (many)
    close_others(1);
}

void ReopenedFile::close_descriptor() noexcept {
  storage_.reset();
  const int descriptor = std::exchange(descriptor_, -1);
  if (descriptor >= 0 && ::close(descriptor) != 0 && failed_ == 0) failed_ = errno;
}

void ReopenedFile::close_others(std::size_t count) {
  Open& all = open_ones();
  const std::lock_guard lock(all.mutex);
  for (std::size_t looked = 2 * all.files.size(); count > 0 && looked > 0 && !all.files.empty();
       --looked) {
    ReopenedFile* const first = all.files.front();
    const std::unique_lock own(first->mutex_, std::try_to_lock);  // who uses it keeps it
    if (!own.owns_lock() || first->used_.exchange(false, std::memory_order_relaxed) ||
        !first->note_place()) {
      all.files.splice(all.files.end(), all.files, all.files.begin());
      continue;
    }
    all.files.pop_front();
    first->close_descriptor();
    --count;
  }
}

void ReopenedFile::close() {
  {
    Open& all = open_ones();
    const std::lock_guard lock(all.mutex);
    if (descriptor_ >= 0) all.files.erase(listed_);
    close_descriptor();
  }
  if (const int cause = std::exchange(failed_, 0); cause != 0)
    throw Error(path_ + " cannot be closed: " + std::strerror(cause), cause);
}

void ReopenedFile::write(std::uint64_t offset, std::span<const std::span<const std::byte>> pieces) {
  use([&](File& storage) { storage.write(offset, pieces); });
}
void ReopenedFile::read(std::uint64_t offset, std::span<std::byte> bytes) {
  use([&](File& storage) { storage.read(offset, bytes); });
}
void ReopenedFile::read_pieces(std::uint64_t offset, std::span<const std::span<std::byte>> pieces) {
  use([&](File& storage) { storage.read_pieces(offset, pieces); });
}
void ReopenedFile::sync() {
  use([](File& storage) { storage.sync(); });
}
void ReopenedFile::resize(std::uint64_t size) {
  use([&](File& storage) { storage.resize(size); });
}

}  // namespace headrace::engine::io
