#include "store/lmdb/file_locks.hpp"

#include <fcntl.h>
#include <unistd.h>

#include "base/descriptor.hpp"

namespace headrace::store {
namespace {

// Bytes of the file. Whoever wants kData goes through kGate.
constexpr off_t kGate = 0;
constexpr off_t kData = 1;

void set(int descriptor, off_t byte, short kind, const std::string& path) {
  struct flock lock{};
  lock.l_type = kind;
  lock.l_whence = SEEK_SET;
  lock.l_start = byte;
  lock.l_len = 1;
  while (::fcntl(descriptor, F_OFD_SETLKW, &lock) != 0)
    if (errno != EINTR) throw file_error(path + " cannot be locked");
}

}  // namespace

FileLocks::~FileLocks() {
  for (const int descriptor : free_) ::close(descriptor);
}

int FileLocks::take_descriptor() {
  const std::scoped_lock lock(mutex_);
  if (free_.empty()) {
    // No call that gives one back may need memory.
    free_.reserve(made_ + 1);
    shared_.reserve(made_ + 1);
    const int made = ::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (made < 0) throw file_error(path_ + " cannot be opened");
    ++made_;
    return made;
  }
  const int descriptor = free_.back();
  free_.pop_back();
  return descriptor;
}

void FileLocks::lock_as(bool alone) {
  const int descriptor = take_descriptor();
  const short kind = alone ? F_WRLCK : F_RDLCK;
  try {
    set(descriptor, kGate, kind, path_);
    set(descriptor, kData, kind, path_);
    set(descriptor, kGate, F_UNLCK, path_);
  } catch (const Error&) {
    ::close(descriptor);
    const std::scoped_lock lock(mutex_);
    --made_;
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
