#include "sidecar/working_copy.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <iterator>
#include <string_view>
#include <thread>
#include <utility>

#include "sidecar/folder.hpp"
#include "sidecar/locks.hpp"
#include "sidecar/placed/moved_log.hpp"
#include "sidecar/placed/placed_log.hpp"

namespace headrace::sidecar {
namespace {

namespace fs = std::filesystem;

bool same(const timespec& one, const timespec& other) {
  return one.tv_sec == other.tv_sec && one.tv_nsec == other.tv_nsec;
}

// Its bytes, names, owner and mode: what changes any of them changes that time.
bool same(const struct stat& one, const struct stat& other) {
  return one.st_dev == other.st_dev && one.st_ino == other.st_ino && one.st_size == other.st_size &&
         same(one.st_ctim, other.st_ctim);
}

void lock(const Descriptor& file, int how, const char* otherwise) {
  using namespace std::chrono_literals;
  for (int tries = 0; ::flock(file.get(), how | LOCK_NB) != 0 && errno == EWOULDBLOCK; ++tries) {
    if (tries == 100) throw Error(otherwise, ErrorKind::busy);
    std::this_thread::sleep_for(50ms);
  }
}

// As HDF5's readers lock it: others may read the file, but not write to it. The program may be
// about to close it still, as it ends.
void lock_as_reader(const Descriptor& file) {
  const char* const setting = std::getenv("HDF5_USE_FILE_LOCKING");
  if (setting != nullptr && (setting == std::string_view("FALSE") || *setting == '0')) return;
  lock(file, LOCK_SH, "a program has it open for writing");
}

std::vector<fs::path> logs_in(const fs::path& folder, std::string_view begin) {
  std::vector<fs::path> logs;
  std::error_code failure;
  for (const auto& entry : fs::directory_iterator(folder, failure)) {
    const std::string name = entry.path().filename();
    if (name.starts_with(begin) && name.ends_with(".log")) logs.push_back(entry.path());
  }
  return logs;
}

// NFS locks only what is open for writing.
std::unique_ptr<Descriptor> open_to_lock(const fs::path& log) {
  if (!elsewhere(log).empty()) return nullptr;  // who opens the file is told
  for (const int access : {O_RDWR, O_RDONLY}) {
    try {
      return std::make_unique<Descriptor>(real_log(log), access | O_NOFOLLOW);
    } catch (const Error& error) {
      if (error.kind() == ErrorKind::not_found) return nullptr;
      if (access == O_RDONLY) throw;
    }
  }
  return nullptr;
}

}  // namespace

std::vector<fs::path> logs_beside(const std::string& file) { return logs_in(folder_of(file), ""); }

std::vector<fs::path> logs_of(const fs::path& first) {
  const std::string name = first.filename();
  return logs_in(first.parent_path(), std::string_view(name).substr(0, name.find('.') + 1));
}

LogLocks::LogLocks(const std::string& file) {
  wait_for_moves(file);
  for (const fs::path& log : logs_beside(file)) {
    if (!stands_for_all(log.filename().string())) continue;
    auto held = open_to_lock(log);
    if (held == nullptr) continue;  // it is in order by now
    if (lock_when_free(held->get(), LOCK_EX)) remove_copies(log);
    held_.push_back(std::move(held));
  }
}

WorkingCopy::WorkingCopy(Places places, std::vector<fs::path> logs, Throttle throttle)
    : places_(std::move(places)),
      folder_(folder_of(places_.copy)),
      logs_(std::move(logs)),
      throttle_(throttle),
      original_(places_.file, O_RDONLY) {
  lock_as_reader(original_);
  before_ = original_.status();
  try {
    make();
  } catch (const std::exception& error) {
    if (made_.st_ino != 0) remove();
    throw NoCopy(error.what());
  }
}

void WorkingCopy::make() {
  if (places_.replaces() && before_.st_nlink != 1)
    throw Error("it has several names, and would keep one only");
  const fs::path folder = fs::path(places_.copy).parent_path();
  fs::create_directory(folder);
  if (places_.replaces() && ::access(fs::path(places_.file).parent_path().c_str(), W_OK) != 0)
    throw Error(std::string("its folder cannot be written to: ") + std::strerror(errno));
  if (fs::exists(places_.copy))
    throw Error("a copy is in " + folder.string() + ": another process works on it, or was killed");
  const Descriptor made(places_.copy, O_RDWR | O_CREAT | O_EXCL, 0600);
  made_ = made.status();
  if (places_.replaces()) copy_identity(original_, made);
  copy_data(original_, made, throttle_);
  made_ = made.status();
  fs::create_directory(folder_);
  for (const fs::path& log : logs_) fs::create_symlink(log, fs::path(folder_) / log.filename());
}

bool WorkingCopy::is_written_to() const {
  return !same(Descriptor(places_.copy, O_RDONLY).status().st_mtim, made_.st_mtim);
}

// Where locks do not work, another process may have put its own there.
void WorkingCopy::require_own() const {
  const struct stat is = Descriptor(places_.copy, O_RDONLY).status();
  if (is.st_dev != made_.st_dev || is.st_ino != made_.st_ino)
    throw Error("its copy has been replaced meanwhile", ErrorKind::conflict);
}

std::vector<fs::path> WorkingCopy::take_place() {
  std::vector<fs::path> done;
  std::ranges::copy_if(logs_, std::back_inserter(done), [&](const fs::path& log) {
    return !fs::is_symlink(fs::path(folder_) / log.filename());
  });
  if (!places_.replaces()) {
    rename_to_target();
  } else if (!done.empty() || is_written_to()) {
    replace_file();
    for (const fs::path& log : done)
      if (!unlink_log(log) && errno != ENOENT)
        throw Error("log " + log.string() + " cannot be removed", errno);
  }
  return done;
}

void WorkingCopy::replace_file() const {
  sync(places_.copy);
  const Descriptor parent(fs::path(places_.file).parent_path(), O_RDONLY | O_DIRECTORY);
  {
    // Ranks that are opening the file must all find the same one.
    const Descriptor folder(folder_of(places_.file), O_RDONLY | O_DIRECTORY);
    lock(folder, LOCK_EX, "programs are opening it all the time");
    if (!same(before_, Descriptor(places_.file, O_RDONLY).status()))
      throw Error("it has been changed meanwhile", ErrorKind::conflict);
    require_own();
    fs::rename(places_.copy, places_.file);
  }
  sync(parent);
}

void WorkingCopy::rename_to_target() const {
  require_own();
  copy_mode(original_, Descriptor(places_.copy, O_RDONLY));
  sync(places_.copy);
  const char* const target = places_.target.c_str();
  if (::renameat2(AT_FDCWD, places_.copy.c_str(), AT_FDCWD, target, RENAME_NOREPLACE) != 0) {
    if (errno != EINVAL) throw Error(places_.target + ": " + std::strerror(errno), errno);
    // Not every file system can do that.
    if (fs::exists(fs::symlink_status(target)))
      throw Error(places_.target + ": is there already", ErrorKind::conflict);
    fs::rename(places_.copy, target);
  }
  sync(fs::path(target).parent_path());
}

void WorkingCopy::remove() const {
  std::error_code failure;
  fs::remove(places_.copy, failure);
  fs::remove_all(folder_, failure);
  // Where nothing else is in it, and it is no link.
  ::rmdir(fs::path(places_.copy).parent_path().c_str());
}

}  // namespace headrace::sidecar
