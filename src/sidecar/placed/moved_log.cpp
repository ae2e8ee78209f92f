#include "sidecar/placed/moved_log.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <thread>

#include "base/error.hpp"
#include "base/report/log.hpp"
#include "sidecar/folder.hpp"
#include "sidecar/locks.hpp"
#include "sidecar/placed/placed_log.hpp"

namespace headrace::sidecar {

namespace fs = std::filesystem;

namespace {

// Whether a process has that file locked, by that name: who has given a copy the log's name keeps
// the lock while the logs are put in order.
bool is_at_work(const std::string& part) {
  const int descriptor = ::open(part.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return false;  // it has its name by now
  const bool locked = ::flock(descriptor, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
  ::close(descriptor);
  return locked;
}

void empty(const Descriptor& part) {
  if (::ftruncate(part.get(), 0) != 0)
    throw Error(part.path() + " cannot be cut off: " + std::strerror(errno), errno);
}

}  // namespace

std::unique_ptr<Descriptor> begin_move(const std::string& log) {
  constexpr mode_t kOwners = 0600;
  if (!is_placed(log)) return nullptr;
  auto part = std::make_unique<Descriptor>(part_of(log), O_RDWR | O_CREAT, kOwners);
  lock_when_free(part->get(), LOCK_EX);
  struct stat placed{};
  if (is_placed(log) && ::stat(log.c_str(), &placed) == 0) {
    open_to_those_of(placed, *part);  // who may read the file waits for it
    return part;
  }
  ::unlink(part_of(log).c_str());  // what this has made after the other one's was renamed
  return nullptr;
}

void move_beside(const std::string& log, Throttle& throttle) {
  const std::string placed = real_log(log);
  const Descriptor from(placed, O_RDWR | O_NOFOLLOW);
  lock_when_free(from.get(), LOCK_EX);  // the file's own storage may have no locks
  if (!is_placed(log)) return;
  const Descriptor part(part_of(log), O_RDWR | O_NOFOLLOW);
  const Descriptor folder(fs::path(log).parent_path(), O_RDONLY | O_DIRECTORY);
  empty(part);  // of who was killed amid this
  try {
    copy_data(from, part, throttle);
    sync(part);
  } catch (const Error&) {
    empty(part);
    throw;
  }
  fs::rename(part.path(), log);
  sync(folder);
  remove_placed(placed);
}

void mark_in_use(int descriptor) noexcept {
  struct flock read{};
  read.l_type = F_RDLCK;
  if (::fcntl(descriptor, F_OFD_SETLK, &read) != 0)
    headrace::log(Level::debug, "a log on the node's storage cannot be marked as in use");
}

void require_unused(const std::string& log) {
  const Descriptor opened(real_log(log), O_RDWR | O_NOFOLLOW);
  struct flock written{};
  written.l_type = F_WRLCK;
  if (::fcntl(opened.get(), F_OFD_GETLK, &written) == 0 && written.l_type != F_UNLCK)
    throw Error(opened.path() + ": a program has it open", ErrorKind::busy);
}

void wait_for_moves(const std::string& file, bool far) {
  using namespace std::chrono_literals;
  std::error_code failure;
  for (const auto& entry : fs::directory_iterator(folder_of(file), failure)) {
    if (!entry.path().native().ends_with(kPartSuffix) || !is_at_work(entry.path())) continue;
    if (far && elsewhere(fs::path(entry.path()).replace_extension()).empty()) continue;
    headrace::log(Level::info, "waiting for the process that brings log " +
                                   entry.path().stem().string() + " to file " + file);
    for (auto pause = 5ms; is_at_work(entry.path()); pause = std::min(2 * pause, 320ms))
      std::this_thread::sleep_for(pause);
  }
}

}  // namespace headrace::sidecar
