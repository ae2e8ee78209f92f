#include "sidecar/rank_logs.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <string_view>

#include "base/error.hpp"
#include "sidecar/folder.hpp"
#include "sidecar/placed/placed_log.hpp"

namespace headrace::sidecar {
namespace {

bool all_of(std::string_view text, std::string_view allowed) {
  return !text.empty() && text.find_first_not_of(allowed) == std::string_view::npos;
}

constexpr std::string_view kTemporary = ".tmp";

bool is_temporary(std::string_view name) {
  constexpr std::size_t kId = 2 * sizeof(engine::log::Owner);
  if (!name.ends_with(kTemporary) || name.size() <= kId + 1 + kTemporary.size() || name[kId] != '.')
    return false;
  name.remove_suffix(kTemporary.size());
  const bool of_node = name[kId + 1] == 'n';
  return all_of(name.substr(0, kId), "0123456789abcdef") &&
         all_of(name.substr(kId + (of_node ? 2 : 1)), "0123456789");
}

std::string path_of(const std::string& file, const engine::log::Owner& owner,
                    const std::string& part, Lifetime lifetime) {
  const auto path = std::filesystem::path(log_path(file, owner, part));
  if (lifetime == Lifetime::kept) return path;
  return std::filesystem::path(path).replace_extension(kTemporary);
}

int locked(int descriptor, const std::string& path, int lock) {
  // The lock of one that outlives the program is for who puts it in order in the background.
  if (!is_temporary(std::filesystem::path(path).filename().string())) return descriptor;
  // Where the file system has no locks, nothing is ever removed as left. Somebody who has the lock
  // is about to remove it: a file of that path is being opened by others.
  if (::flock(descriptor, lock | LOCK_NB) == 0 || errno != EWOULDBLOCK) return descriptor;
  ::close(descriptor);
  throw Error("log " + path + " cannot be locked", ErrorKind::busy);
}

// Whether no process has it.
bool is_left(int descriptor) { return ::flock(descriptor, LOCK_EX | LOCK_NB) == 0; }

}  // namespace

std::string rank_log_path(const std::string& file, const engine::log::Owner& owner, int rank,
                          Lifetime lifetime) {
  return path_of(file, owner, '.' + std::to_string(rank), lifetime);
}

std::string node_log_path(const std::string& file, const engine::log::Owner& owner,
                          std::uint32_t node, Lifetime lifetime) {
  return path_of(file, owner, ".n" + std::to_string(node), lifetime);
}

int make_rank_log(const std::string& path, const std::string& place) {
  return locked(make_log(path, place), path, LOCK_EX);
}

int make_node_log(const std::string& path, const std::string& place) {
  return locked(make_log(path, place), path, LOCK_SH);
}

int open_node_log(const std::string& path) {
  const int descriptor = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (descriptor < 0) throw Error("log " + path + " cannot be opened", errno);
  return locked(descriptor, path, LOCK_SH);
}

void remove_rank_log(const std::string& path) noexcept {
  try {
    unlink_log(path);
    ::rmdir(std::filesystem::path(path).parent_path().c_str());
  } catch (...) {  // it is in nobody's way
  }
}

void remove_left_rank_logs(const std::string& file) noexcept {
  try {
    std::error_code failure;
    for (const auto& entry : std::filesystem::directory_iterator(folder_of(file), failure)) {
      if (!is_temporary(entry.path().filename().string())) continue;
      const int descriptor = ::open(entry.path().c_str(), O_RDWR | O_CLOEXEC);
      if (descriptor < 0) continue;
      if (is_left(descriptor)) unlink_log(entry.path());
      ::close(descriptor);
    }
  } catch (...) {  // they are in nobody's way either
  }
}

}  // namespace headrace::sidecar
