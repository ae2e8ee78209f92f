#include "sidecar/copy_file.hpp"

#include <fcntl.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <tuple>
#include <vector>

#include "base/error.hpp"

namespace headrace::sidecar {
namespace {

[[noreturn]] void fail(const std::string& what) {
  const int cause = errno;
  throw Error(what + ": " + std::strerror(cause), cause);
}

// Where file systems cannot share or copy by themselves.
void copy_by_hand(int from, off_t at, int to, off_t put, off_t length) {
  std::vector<char> buffer(1 << 20);
  while (length > 0) {
    const auto most = std::min(static_cast<std::size_t>(length), buffer.size());
    const ssize_t got = ::pread(from, buffer.data(), most, at);
    if (got == 0) errno = EIO;  // it ends early
    if (got <= 0) fail("the file cannot be read");
    for (ssize_t done = 0; done < got;) {
      const ssize_t written =
          ::pwrite(to, buffer.data() + done, static_cast<std::size_t>(got - done), put + done);
      if (written <= 0) fail("the copy cannot be written");
      done += written;
    }
    at += got;
    put += got;
    length -= got;
  }
}

// The user's, and access lists; others are the file system's.
void copy_attributes(int from, int to) {
  ::fremovexattr(to, "system.posix_acl_access");  // what its folder gives to new files
  const ssize_t length = ::flistxattr(from, nullptr, 0);
  if (length <= 0) return;
  std::vector<char> names(static_cast<std::size_t>(length));
  if (::flistxattr(from, names.data(), names.size()) != length)
    throw Error("its attributes change");
  for (std::size_t at = 0; at < names.size();) {
    const std::string name(names.data() + at);
    at += name.size() + 1;
    if (!name.starts_with("user.") && name != "system.posix_acl_access") continue;
    std::array<char, 1 << 16> value{};
    const ssize_t size = ::fgetxattr(from, name.c_str(), value.data(), value.size());
    if (size < 0 ||
        ::fsetxattr(to, name.c_str(), value.data(), static_cast<std::size_t>(size), 0) != 0)
      fail("attribute " + name + " cannot be copied");
  }
}

}  // namespace

void sync(const Descriptor& file) {
  if (::fsync(file.get()) != 0) fail(file.path());
}

void sync(const std::string& path) { sync(Descriptor(path, O_RDONLY)); }

void for_each_part(const Descriptor& file, off_t size, const Part& part) {
  for (off_t at = 0; at < size;) {
    const off_t begin = ::lseek(file.get(), at, SEEK_DATA);
    if (begin < 0 && errno == ENXIO) return;  // the rest is a hole
    if (begin < 0) return part(at, size);     // the file system has no word for holes
    if (begin >= size) return;
    at = ::lseek(file.get(), begin, SEEK_HOLE);
    if (at < 0) fail("the file cannot be read");
    part(begin, std::min(at, size));
  }
}

void copy_range(const Descriptor& from, off_t at, const Descriptor& to, off_t put, off_t length) {
  while (length > 0) {
    const ssize_t done =
        ::copy_file_range(from.get(), &at, to.get(), &put, static_cast<std::size_t>(length), 0);
    if (done < 0 && errno == ENOSPC) fail("the copy cannot be written");
    if (done <= 0) return copy_by_hand(from.get(), at, to.get(), put, length);
    length -= done;
  }
}

void copy_data(const Descriptor& from, const Descriptor& to, Throttle& throttle) {
  constexpr off_t kPiece = off_t{8} << 20U;
  const off_t size = from.status().st_size;
  if (::ftruncate(to.get(), size) != 0) fail("the copy cannot be made as long");
  for_each_part(from, size, [&](off_t begin, off_t end) {
    for (off_t at = begin; at < end; at += kPiece) {
      const off_t length = std::min(kPiece, end - at);
      copy_range(from, at, to, at, length);
      throttle.spend(static_cast<std::uint64_t>(length));
    }
  });
}

void copy_mode(const Descriptor& from, const Descriptor& to) {
  constexpr mode_t kMode = 07777;
  if (::fchmod(to.get(), from.status().st_mode & kMode) != 0)
    fail("the copy cannot be given the file's mode");
}

void open_to_those_of(const struct stat& file, const Descriptor& made) noexcept {
  constexpr mode_t kPermissions = 0777;
  struct stat is{};
  if (::fstat(made.get(), &is) != 0) return;
  if ((is.st_uid != file.st_uid || is.st_gid != file.st_gid) && ::geteuid() == 0)
    std::ignore = ::fchown(made.get(), file.st_uid, file.st_gid);
  if (((is.st_mode ^ file.st_mode) & kPermissions) != 0)
    std::ignore = ::fchmod(made.get(), file.st_mode & kPermissions);
}

void copy_identity(const Descriptor& from, const Descriptor& to) {
  const struct stat is = from.status();
  const struct stat made = to.status();
  if ((made.st_uid != is.st_uid || made.st_gid != is.st_gid) &&
      ::fchown(to.get(), is.st_uid, is.st_gid) != 0)
    fail("the copy cannot be given to the file's owner");
  copy_attributes(from.get(), to.get());
  copy_mode(from, to);
}

}  // namespace headrace::sidecar
