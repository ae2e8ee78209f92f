#include "sidecar/placed/placed_log.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string_view>

#include "base/error.hpp"
#include "base/private_folder.hpp"
#include "base/process/machine.hpp"
#include "base/report/log.hpp"

namespace headrace::sidecar {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kUser = "headrace-";
constexpr std::string_view kLogs = "logs@";

fs::path folder_in(const std::string& place) {
  const fs::path user = folder_of_user(place);
  const fs::path folder = user / (std::string(kLogs) + host_name());
  make_private_folder(user);
  make_private_folder(folder);
  return folder;
}

// What a link beside a file leads to, by its names: headrace-UID/logs@HOST/ID.log. Empty where it
// is none of that kind.
fs::path named_target(const std::string& path) {
  std::error_code failure;
  fs::path target = fs::read_symlink(path, failure);
  const fs::path folder = target.parent_path();
  const bool ours = !failure && target.filename() == fs::path(path).filename() &&
                    folder.filename().string().starts_with(kLogs) &&
                    folder.parent_path().filename().string().starts_with(kUser);
  return ours ? target : fs::path();
}

// Others may plant links beside a file, but nothing in this user's folders.
fs::path target_of(const std::string& path) {
  fs::path target = named_target(path);
  const fs::path folder = target.parent_path();
  return !target.empty() && is_private_folder(folder) && is_private_folder(folder.parent_path())
             ? target
             : fs::path();
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

bool is_placed(const std::string& path) { return !target_of(path).empty(); }

bool has_name(const std::string& path) noexcept {
  struct stat status{};
  return ::lstat(path.c_str(), &status) == 0;
}

std::string elsewhere(const std::string& path) noexcept {
  const fs::path target = named_target(path);
  if (target.empty() || ::access(target.c_str(), R_OK) == 0) return {};
  const std::string host = target.parent_path().filename().string().substr(kLogs.size());
  return "it is " + target.string() + " on the storage of node " + host +
         ", for its user alone: open the file there, or have `headrace cache migrate` put it in "
         "order there";
}

void require_readable(const std::string& path) {
  if (::access(path.c_str(), R_OK) == 0) return;
  const int cause = errno;
  const std::string where = elsewhere(path);
  throw Error("a part of its data is in log " + path +
                  (where.empty() ? ", which cannot be opened" : ": " + where),
              cause);
}

void sync_place(const std::string& path) {
  fs::path folder = target_of(path);
  for (int level = 0; level < 3 && !folder.empty(); ++level) {
    folder = folder.parent_path();
    const int descriptor = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    const bool done = descriptor >= 0 && ::fsync(descriptor) == 0;
    const int cause = errno;
    if (descriptor >= 0) ::close(descriptor);
    if (!done) throw Error(folder.string() + " cannot be synchronised with storage", cause);
  }
}

std::string part_of(const std::string& path) { return path + std::string(kPartSuffix); }

bool remove_placed(const std::string& real) {
  ::unlink(name_of_file(real).c_str());
  return ::unlink(real.c_str()) == 0 || errno == ENOENT;
}

bool unlink_log(const std::string& path) {
  const fs::path target = target_of(path);
  if (!target.empty() && !remove_placed(target)) return false;
  ::unlink(part_of(path).c_str());
  return ::unlink(path.c_str()) == 0;
}

}  // namespace headrace::sidecar
