#include "engine/cache/shared/folder.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <random>
#include <system_error>
#include <utility>

#include "base/error.hpp"
#include "base/private_folder.hpp"

namespace headrace::engine::cache {
namespace {

constexpr mode_t kOthers = 0077;

Error failed(const std::string& what, const std::string& path) {
  return Error(what + " " + path + ": " + std::generic_category().message(errno), errno);
}

OwnedDescriptor open_existing(const std::string& path) {
  OwnedDescriptor file(::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW));
  if (file.get() < 0 && errno != ENOENT) throw failed("cannot open", path);
  struct stat status{};
  if (file.get() >= 0 && (::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode) ||
                          status.st_uid != ::geteuid() || (status.st_mode & kOthers) != 0))
    throw Error(path + " is not a file that only this user may open", ErrorKind::conflict);
  return file;
}

// Whoever is killed in between leaves a file of a name that nobody opens.
void make_file(const std::string& path, const std::function<void(int)>& fill) {
  // Not by the process's number: containers that share a folder all have a first one.
  std::random_device random;
  const std::string temporary = path + "." + std::to_string(random()) + std::to_string(random());
  const OwnedDescriptor file(
      ::open(temporary.c_str(), O_RDWR | O_CLOEXEC | O_CREAT | O_EXCL | O_NOFOLLOW, 0600));
  if (file.get() < 0) throw failed("cannot make", temporary);
  const auto error = error_of([&] {
    fill(file.get());
    if (::link(temporary.c_str(), path.c_str()) != 0 && errno != EEXIST)
      throw failed("cannot make", path);
  });
  ::unlink(temporary.c_str());
  if (error != nullptr) std::rethrow_exception(error);
}

struct flock lock_of(off_t at, off_t bytes, short kind) {
  struct flock lock{};
  lock.l_type = kind;
  lock.l_whence = SEEK_SET;
  lock.l_start = at;
  lock.l_len = bytes;
  return lock;
}

// The same file by another open file description; none (-1) where the system does not give one.
OwnedDescriptor reopened(int descriptor) {
  const std::string path = "/proc/self/fd/" + std::to_string(descriptor);
  return OwnedDescriptor(::open(path.c_str(), O_RDWR | O_CLOEXEC));
}

}  // namespace

OwnedDescriptor::OwnedDescriptor(OwnedDescriptor&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)),
      device_(other.device_),
      inode_(other.inode_) {}

OwnedDescriptor& OwnedDescriptor::operator=(OwnedDescriptor&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  std::swap(device_, other.device_);
  std::swap(inode_, other.inode_);
  return *this;
}

void OwnedDescriptor::note_file() {
  struct stat status{};
  if (::fstat(descriptor_, &status) != 0) return;  // then none is the one that was noted
  device_ = status.st_dev;
  inode_ = status.st_ino;
}

bool OwnedDescriptor::has_noted_file() const {
  struct stat status{};
  return ::fstat(descriptor_, &status) == 0 && status.st_dev == device_ && status.st_ino == inode_;
}

void OwnedDescriptor::reopen() {
  const bool is_ours = has_noted_file();
  const int before = std::exchange(descriptor_, -1);
  if (!is_ours) return;  // it is the program's, or was closed
  OwnedDescriptor other = reopened(before);
  std::swap(descriptor_, other.descriptor_);
  ::close(before);
}

OwnedDescriptor::~OwnedDescriptor() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

std::string shared_folder() {
  const char* const given = std::getenv("HEADRACE_SHARED");
  if (given != nullptr && *given != '\0') return given;
  return folder_of_user("/dev/shm");
}

FolderRoom room_of_shared_folder() {
  const std::filesystem::path folder(shared_folder());
  struct statvfs status{};
  if (::statvfs(folder.c_str(), &status) != 0 &&
      ::statvfs(folder.parent_path().c_str(), &status) != 0)
    return {};
  return {std::uint64_t{status.f_blocks} * status.f_frsize,
          std::uint64_t{status.f_bavail} * status.f_frsize};
}

OwnedDescriptor open_private(const std::string& folder, const std::string& name,
                             const std::function<void(int)>& fill) {
  const std::string path = folder + "/" + name;
  make_private_folder(folder);
  constexpr int kTries = 100;  // others may remove what was made just now
  for (int i = 0; i < kTries; ++i) {
    if (OwnedDescriptor file = open_existing(path); file.get() >= 0) return file;
    make_file(path, fill);
  }
  throw Error("cannot open " + path + ": it is removed as often as it is made", ErrorKind::busy);
}

bool has_name(int descriptor) {
  struct stat status{};
  return ::fstat(descriptor, &status) == 0 && status.st_nlink > 0;
}

void reserve(int descriptor, off_t offset, off_t bytes) {
  const int failure = ::posix_fallocate(descriptor, offset, bytes);
  if (failure != 0)
    throw Error("no room for chunks: " + std::generic_category().message(failure), failure);
}

std::byte* map_shared(int descriptor, std::size_t bytes) {
  // A mapping keeps the locks of its open file description, in children, too.
  const OwnedDescriptor other = reopened(descriptor);
  const int by = other.get() >= 0 ? other.get() : descriptor;
  void* const memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, by, 0);
  if (memory == MAP_FAILED) throw failed("cannot map", shared_folder());
  ::madvise(memory, bytes, MADV_DONTDUMP);
  return static_cast<std::byte*>(memory);
}

bool lock_byte(int descriptor, off_t at, short kind, off_t bytes) {
  struct flock lock = lock_of(at, bytes, kind);
  return ::fcntl(descriptor, F_OFD_SETLK, &lock) == 0;
}

bool is_locked(int descriptor, off_t at, off_t bytes) {
  struct flock lock = lock_of(at, bytes, F_WRLCK);
  return ::fcntl(descriptor, F_OFD_GETLK, &lock) != 0 || lock.l_type != F_UNLCK;
}

}  // namespace headrace::engine::cache
