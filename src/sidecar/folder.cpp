#include "sidecar/folder.hpp"

#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <string_view>

#include "base/error.hpp"
#include "base/report/printable.hpp"
#include "sidecar/placed/placed_log.hpp"

namespace headrace::sidecar {
namespace {

// Of a log that has nothing but its owner's segment.
constexpr off_t kEmpty = engine::log::kHeaderBytes + engine::log::kOwnerBytes;

constexpr std::string_view kFolderSuffix = ".headrace";

}  // namespace

std::string path_of(const char* name) {
  std::error_code failure;
  auto path = std::filesystem::canonical(name, failure);
  if (failure) path = std::filesystem::absolute(name, failure);
  return path;
}

std::string folder_of(const std::string& file) { return file + std::string(kFolderSuffix); }

Owner random_owner() {
  Owner owner{};
  if (::getrandom(owner.data(), owner.size(), 0) != static_cast<ssize_t>(owner.size()))
    throw Error("the system gives no random bytes", errno);
  return owner;
}

bool has_folder(const std::string& file) {
  std::error_code failure;
  return std::filesystem::is_directory(folder_of(file), failure);
}

std::string log_path(const std::string& file, const Owner& owner, const std::string& part) {
  const std::string name =
      hexadecimal({reinterpret_cast<const unsigned char*>(owner.data()), owner.size()});
  return folder_of(file) + "/" + name + part + ".log";
}

int make_log(const std::string& path, const std::string& place) {
  constexpr mode_t kOwners = 0600;
  constexpr mode_t kAny = 0666;
  const std::string folder = std::filesystem::path(path).parent_path();
  const std::string file = folder.substr(0, folder.size() - kFolderSuffix.size());
  struct stat status{};
  const mode_t mode = ::stat(file.c_str(), &status) == 0 ? status.st_mode & kAny : 0;
  std::error_code failure;
  std::filesystem::create_directory(folder, failure);
  int descriptor = place.empty() ? -1 : make_placed_log(path, place, mode | kOwners);
  if (descriptor < 0)
    descriptor = ::open(path.c_str(), O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, mode | kOwners);
  if (descriptor < 0) throw Error("log " + path + " cannot be made", errno);
  return descriptor;
}

int open_log(const std::string& file, const Owner& owner, bool is_new, const std::string& place) {
  const std::string path = log_path(file, owner);
  const int descriptor = is_new ? make_log(path, place) : ::open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (descriptor < 0) throw Error("log " + path + " cannot be made", errno);
  if (is_new || size_of(descriptor) == kEmpty) return descriptor;
  ::close(descriptor);
  throw Error("log " + path + " holds what this program has not logged");
}

void empty_log(int descriptor, const std::string& path, bool sync) {
  if (::ftruncate(descriptor, kEmpty) != 0 || (sync && ::fsync(descriptor) != 0))
    throw Error("log " + path + " cannot be cut off", errno);
}

std::uint64_t size_of(int descriptor) {
  struct stat status{};
  if (::fstat(descriptor, &status) != 0)
    throw Error("the system does not tell a log's size", errno);
  return static_cast<std::uint64_t>(status.st_size);
}

void remove_log(const std::string& path) {
  if (!unlink_log(path)) throw Error("log " + path + " cannot be removed", errno);
  ::rmdir(std::filesystem::path(path).parent_path().c_str());
}

void remove_logs(const std::string& file, const Owner& owner) {
  const std::filesystem::path one = log_path(file, owner);
  const std::string id = one.stem().string() + '.';
  std::error_code failure;
  for (const auto& entry : std::filesystem::directory_iterator(one.parent_path(), failure)) {
    if (!entry.path().filename().string().starts_with(id)) continue;
    if (entry.is_symlink(failure)) unlink_log(entry.path());
    std::filesystem::remove_all(entry.path(), failure);
  }
  ::rmdir(one.parent_path().c_str());
}

void sync_file(const std::string& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  const bool done = descriptor >= 0 && ::fsync(descriptor) == 0;
  const int cause = errno;
  if (descriptor >= 0) ::close(descriptor);
  if (!done) throw Error(path + " cannot be synchronised with storage", cause);
}

void sync_names(const std::string& file) {
  std::error_code failure;
  for (const auto& entry : std::filesystem::directory_iterator(folder_of(file), failure))
    sync_place(entry.path());
  sync_file(folder_of(file));
  sync_file(std::filesystem::path(file).parent_path());
}

}  // namespace headrace::sidecar
