#include "sidecar/placed/moved_log.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

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

// Whether somebody makes that copy: who has made one keeps its lock to put the logs in order.
bool is_at_work(const std::string& part) {
  const int descriptor = ::open(part.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return false;  // it has its name by now
  const bool locked = ::flock(descriptor, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
  ::close(descriptor);
  return locked;
}

}  // namespace

std::unique_ptr<Descriptor> begin_move(const std::string& log) {
  constexpr mode_t kOwners = 0600;
  if (!is_placed(log)) return nullptr;
  auto part = std::make_unique<Descriptor>(part_of(log), O_RDWR | O_CREAT, kOwners);
  lock_when_free(part->get(), LOCK_EX);
  if (is_placed(log)) return part;
  ::unlink(part_of(log).c_str());  // what this has made after the other one's was renamed
  return nullptr;
}

void move_beside(const std::string& log, Throttle& throttle) {
  const std::string placed = real_log(log);
  const Descriptor from(placed, O_RDONLY | O_NOFOLLOW);
  const Descriptor part(part_of(log), O_RDWR | O_NOFOLLOW);
  if (::ftruncate(part.get(), 0) != 0)  // of who was killed amid this
    throw Error(part.path() + " cannot be cut off: " + std::strerror(errno), errno);
  copy_data(from, part, throttle);
  open_to_those_of(from.status(), part);
  sync(part);
  fs::rename(part.path(), log);
  sync(fs::path(log).parent_path());
  remove_placed(placed);
}

void wait_for_moves(const std::string& file) {
  std::error_code failure;
  for (const auto& entry : fs::directory_iterator(folder_of(file), failure)) {
    if (!entry.path().native().ends_with(kPartSuffix) || !is_at_work(entry.path())) continue;
    headrace::log(Level::info, "waiting until log " + entry.path().stem().string() + " of file " +
                                   file + " has come from its node");
    while (is_at_work(entry.path())) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

}  // namespace headrace::sidecar
