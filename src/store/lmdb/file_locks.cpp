#include "store/lmdb/file_locks.hpp"

#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <utility>

namespace headrace::store {
namespace {

// Bytes of the file. Whoever wants kData goes through kGate.
constexpr off_t kGate = 0;
constexpr off_t kData = 1;

// Of all objects of the process, each with one more: 0 is none. A child closes them when it begins,
// or it would have its parent's locks as long as it lives; they are still the parent's then.
std::array<std::atomic<int>, 4096>
    all;  // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)

void note(int descriptor) {
  static const int registered = ::pthread_atfork(nullptr, nullptr, [] {
    for (auto& one : all)
      if (const int open = one.exchange(0); open != 0) ::close(open - 1);
  });
  if (registered != 0) throw Error("forks cannot be noticed", registered);
  for (auto& one : all) {
    int none = 0;
    if (one.compare_exchange_strong(none, descriptor + 1)) return;
  }
}

void close_noted(int descriptor) {
  for (auto& one : all) {
    int noted = descriptor + 1;
    if (one.compare_exchange_strong(noted, 0)) break;
  }
  ::close(descriptor);
}

bool has_name(int descriptor) {
  struct stat status{};
  return ::fstat(descriptor, &status) == 0 && status.st_nlink > 0;
}

struct flock of_byte(off_t byte, short kind) {
  struct flock lock{};
  lock.l_type = kind;
  lock.l_whence = SEEK_SET;
  lock.l_start = byte;
  lock.l_len = 1;
  return lock;
}

void set(int descriptor, off_t byte, short kind, const std::string& path) {
  struct flock lock = of_byte(byte, kind);
  while (::fcntl(descriptor, F_OFD_SETLKW, &lock) != 0)
    if (errno != EINTR) throw file_error(path + " cannot be locked");
}

}  // namespace

std::shared_ptr<const Descriptor> lock_byte(const std::string& path, std::uint64_t byte,
                                            bool alone) {
  while (true) {
    auto file = std::make_shared<const Descriptor>(path, O_RDWR | O_CREAT | O_NOFOLLOW, 0600);
    struct flock lock = of_byte(static_cast<off_t>(byte), alone ? F_WRLCK : F_RDLCK);
    if (::fcntl(file->get(), F_OFD_SETLK, &lock) != 0) {
      if (errno == EAGAIN || errno == EACCES) return nullptr;
      throw file_error(path + " cannot be locked");
    }
    if (has_name(file->get())) return file;
  }
}

FileLocks::~FileLocks() {
  for (const int descriptor : free_) close_noted(descriptor);
}

int FileLocks::take_descriptor() {
  const std::scoped_lock lock(mutex_);
  if (free_.empty()) {
    // No call that gives one back may need memory.
    free_.reserve(made_ + 1);
    shared_.reserve(made_ + 1);
    const int made = ::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (made < 0) throw file_error(path_ + " cannot be opened");
    note(made);
    ++made_;
    return made;
  }
  const int descriptor = free_.back();
  free_.pop_back();
  return descriptor;
}

void FileLocks::drop_descriptor(int descriptor) {
  close_noted(descriptor);
  const std::scoped_lock lock(mutex_);
  --made_;
}

// One at a time through the gate, or readers that follow each other would let no writer in.
void FileLocks::lock_as(bool alone) {
  int descriptor = take_descriptor();
  try {
    while (true) {
      set(descriptor, kGate, F_WRLCK, path_);
      set(descriptor, kData, alone ? F_WRLCK : F_RDLCK, path_);
      set(descriptor, kGate, F_UNLCK, path_);
      if (has_name(descriptor)) break;
      // Somebody has erased the file, and others may lock a new one.
      drop_descriptor(std::exchange(descriptor, -1));
      descriptor = take_descriptor();
    }
  } catch (const Error&) {
    if (descriptor >= 0) drop_descriptor(descriptor);
    throw;
  }
  {
    const std::scoped_lock lock(mutex_);
    if (alone)
      alone_ = descriptor;
    else
      shared_.push_back(descriptor);
  }
  if (alone)
    order_.lock();
  else
    order_.lock_shared();
}

// Any of a process's shared locks is as good as another.
void FileLocks::unlock_as(bool alone) {
  if (alone)
    order_.unlock();
  else
    order_.unlock_shared();
  const std::scoped_lock lock(mutex_);
  const int descriptor = alone ? alone_ : shared_.back();
  if (!alone) shared_.pop_back();
  set(descriptor, kData, F_UNLCK, path_);
  free_.push_back(descriptor);
}

}  // namespace headrace::store
