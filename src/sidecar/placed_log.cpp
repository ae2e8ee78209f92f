#include "sidecar/placed_log.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string_view>

#include "base/error.hpp"
#include "base/process/machine.hpp"
#include "base/report/log.hpp"

namespace headrace::sidecar {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kLogs = "logs@";

void make_private(const fs::path& folder) {
  constexpr mode_t kOthers = 0077;
  if (::mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST)
    throw Error(folder.string() + ": " + std::strerror(errno), errno);
  struct stat status{};
  if (::lstat(folder.c_str(), &status) != 0 || !S_ISDIR(status.st_mode) ||
      status.st_uid != ::geteuid() || (status.st_mode & kOthers) != 0)
    throw Error(folder.string() + " is not a folder that only this user may enter",
                ErrorKind::conflict);
}

fs::path folder_in(const std::string& place) {
  const fs::path user = fs::path(place) / ("headrace-" + std::to_string(::geteuid()));
  const fs::path folder = user / (std::string(kLogs) + host_name());
  make_private(user);
  make_private(folder);
  return folder;
}

// What a link beside a file leads to; empty where it is none of ours.
fs::path target_of(const std::string& path) {
  std::error_code failure;
  fs::path target = fs::read_symlink(path, failure);
  const bool ours = !failure && target.parent_path().filename().string().starts_with(kLogs);
  return ours ? target : fs::path();
}

fs::path name_of_file(const fs::path& log) { return fs::path(log).replace_extension(".file"); }

// FILE.headrace/ID.log
fs::path file_of(const std::string& path) {
  const std::string folder = fs::path(path).parent_path();
  return folder.substr(0, folder.rfind('.'));
}

template <typename Make>
int made(const std::string& place, const Make& make) noexcept {
  try {
    return make(folder_in(place));
  } catch (const std::exception& error) {
    log(Level::warning,
        std::string("no log is in ") + place + ", but beside its file: " + error.what());
    return -1;
  }
}

}  // namespace

int make_placed_log(const std::string& path, const std::string& place, mode_t mode) noexcept {
  return made(place, [&](const fs::path& folder) {
    const fs::path real = folder / fs::path(path).filename();
    const int descriptor = ::open(real.c_str(), O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, mode);
    if (descriptor < 0) throw Error(real.string() + ": " + std::strerror(errno), errno);
    std::error_code failure;
    fs::create_symlink(file_of(path), name_of_file(real), failure);
    if (!failure) fs::create_symlink(real, path, failure);
    if (!failure) return descriptor;
    ::close(descriptor);
    std::error_code ignored;
    fs::remove(real, ignored);
    fs::remove(name_of_file(real), ignored);
    throw Error("it cannot be linked to: " + failure.message());
  });
}

int make_unnamed_log(const std::string& place) noexcept {
  return made(place, [&](const fs::path& folder) {
    const int descriptor = ::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (descriptor < 0) throw Error(folder.string() + ": " + std::strerror(errno), errno);
    return descriptor;
  });
}

std::string real_log(const std::string& path) {
  const fs::path target = target_of(path);
  return target.empty() ? path : target.string();
}

std::string elsewhere(const std::string& path) {
  const fs::path target = target_of(path);
  if (target.empty() || fs::exists(target)) return {};
  const std::string host = target.parent_path().filename().string().substr(kLogs.size());
  return "it is " + target.string() + " on the storage of node " + host +
         ": open the file there, or put it in order there by `headrace replay`";
}

bool unlink_log(const std::string& path) {
  const fs::path target = target_of(path);
  if (!target.empty()) {
    ::unlink(name_of_file(target).c_str());
    if (::unlink(target.c_str()) != 0 && errno != ENOENT) return false;
  }
  return ::unlink(path.c_str()) == 0;
}

}  // namespace headrace::sidecar
