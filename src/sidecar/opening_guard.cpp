#include "sidecar/opening_guard.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <vector>

#include "base/report/log.hpp"
#include "sidecar/folder.hpp"
#include "sidecar/locks.hpp"
#include "sidecar/placed/moved_log.hpp"
#include "sidecar/placed/placed_log.hpp"

namespace headrace::sidecar {
namespace {

std::vector<std::string> logs_of(const std::string& file) {
  std::vector<std::string> logs;
  std::error_code failure;
  for (const auto& entry : std::filesystem::directory_iterator(folder_of(file), failure)) {
    const std::string name = entry.path().filename();
    if (stands_for_all(name)) logs.push_back(entry.path());
  }
  return logs;
}

// The process opens its copy of the file through the layer, too: there the log is a link.
int open_real(const std::string& log) {
  return ::open(real_log(log).c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
}

bool is_taken(int descriptor) {
  return ::flock(descriptor, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
}

}  // namespace

// Most files have no logs, and that is to cost little: what leads to a file that is no symbolic
// link does not matter.
OpeningGuard::OpeningGuard(const char* name, bool writes) : writes_(writes) {
  struct stat status{};
  const bool there = ::lstat(name, &status) == 0;
  if (there && S_ISLNK(status.st_mode)) {
    file_ = path_of(name);
    before_ = identity();
  } else {
    file_ = *name == '/' ? name : std::filesystem::current_path().string() + '/' + name;
    if (there) before_ = std::pair{status.st_dev, status.st_ino};
  }
  has_folder_ = sidecar::has_folder(file_);
  if (!has_folder_) return;
  wait_for_moves(file_, !writes);
  if (!writes) {
    keep_file();
    return;
  }
  for (const std::string& log : logs_of(file_)) {
    const int descriptor = open_real(log);
    if (descriptor < 0) {
      // A process on its node may be at work: it replaces the file with the folder locked.
      if (!elsewhere(log).empty() && !held_.contains(folder_of(file_))) keep_file();
      continue;
    }
    held_.emplace(log, descriptor);
    if (wait_for(log, descriptor)) remove_copies(log);
  }
}

OpeningGuard::~OpeningGuard() {
  for (const auto& [log, descriptor] : held_) ::close(descriptor);
}

OpeningGuard::Identity OpeningGuard::identity() const {
  struct stat status{};
  if (::stat(file_.c_str(), &status) != 0) return std::nullopt;
  return std::pair{status.st_dev, status.st_ino};
}

bool OpeningGuard::wait_for(const std::string& log, int descriptor) const {
  if (is_taken(descriptor))
    headrace::log(Level::info, "waiting until log " + log + " is in order in file " + file_);
  return lock_when_free(descriptor, LOCK_SH);
}

// A process replaces the file while it has this lock: ranks that read must find the same one.
void OpeningGuard::keep_file() {
  const std::string folder = folder_of(file_);
  const int descriptor = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return;
  held_.emplace(folder, descriptor);
  lock_when_free(descriptor, LOCK_SH);
}

bool OpeningGuard::in_vain() const { return writes_ ? others_at_work() : replaced(); }

bool OpeningGuard::overtaken() const { return replaced() || (writes_ && others_at_work()); }

bool OpeningGuard::replaced() const { return before_ && identity() && identity() != before_; }

bool OpeningGuard::others_at_work() const {
  return std::ranges::any_of(logs_of(file_), [&](const std::string& log) {
    const int descriptor = held_.contains(log) ? -1 : open_real(log);
    if (descriptor < 0) return false;
    const bool taken = is_taken(descriptor);
    ::close(descriptor);
    return taken;
  });
}

}  // namespace headrace::sidecar
