// canonicalise=background: the process of its own that puts a log in order once the program has
// closed the file (tools/log/replay), and those that must not get in its way. No HDF5. See
// docs/decisions/0012.
#pragma once

#include <sys/file.h>

#include <algorithm>
#include <cerrno>
#include <exception>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "engine/log/format.hpp"

namespace headrace::log_layout {

// Where the process finds the log, open and locked: who opens the file for writing waits for that
// lock, and when the process is killed it is gone.
inline constexpr int kLogDescriptor = 3;
inline constexpr const char* kReplayProgram = "headrace-replay";
// Its copy of the file, beside the log. `headrace replay` puts something of its own in between.
inline constexpr std::string_view kCopySuffix = ".h5";
inline constexpr std::string_view kCopysFolderSuffix = ".h5.headrace";

// Waits. Whether it has the lock then, which not every file system can give.
inline bool lock_when_free(int descriptor, int operation) {
  int failed = -1;
  while ((failed = ::flock(descriptor, operation)) != 0 && errno == EINTR) {
  }
  return failed == 0;
}

// What processes have left that were killed: only who has locked the log knows that they are gone.
inline void remove_copies(const std::filesystem::path& log) {
  std::error_code failure;
  for (const auto& entry : std::filesystem::directory_iterator(log.parent_path(), failure)) {
    const std::string name = entry.path().filename();
    if (name.starts_with(log.filename().native()) &&
        (name.ends_with(kCopySuffix) || name.ends_with(kCopysFolderSuffix)))
      std::filesystem::remove_all(entry.path(), failure);
  }
}

// Of logs that outlive their programs, by their names: the one, or that of the first rank or node.
// Its lock is for all.
inline bool stands_for_all(std::string_view log) {
  constexpr std::size_t kId = 2 * sizeof(engine::log::Owner);
  const std::string_view rest = log.substr(std::min(log.size(), kId));
  return rest == ".log" || rest == ".0.log" || rest == ".n0.log";
}

// A file that has been closed, and its log; of ranks the first one, which stands for all.
struct Closed {
  std::string file;
  std::string log;
  std::string hdf5;  // kept since it was opened: HDF5 closes files when statics are gone
  bool sync = false;
};

// Starts the process and does not wait for it. Where it cannot be started, the log waits for
// `headrace replay` or the next writer; the layer's log says so.
void start_background_replay(const Closed& closed) noexcept;

// What ranks throw, all of them, where such a process was in the way of one.
struct OpenedInVain : std::exception {};

// Around the opening of a file. Ranks have one each, which waits for no other rank.
class BackgroundGuard {
 public:
  // Who `writes` waits until no process works on the file; none begins then while this lives. Who
  // reads has none replace the file meanwhile.
  BackgroundGuard(const char* name, bool writes);
  BackgroundGuard(const BackgroundGuard&) = delete;
  BackgroundGuard& operator=(const BackgroundGuard&) = delete;
  ~BackgroundGuard();

  // Of an opening that has failed: such a process may be why, having begun or ended meanwhile.
  [[nodiscard]] bool in_vain() const;
  // Of one that has not: whether ranks may have opened different files, or one that is worked on.
  [[nodiscard]] bool overtaken() const;

 private:
  using Identity = std::optional<std::pair<unsigned long, unsigned long>>;
  [[nodiscard]] Identity identity() const;
  [[nodiscard]] bool replaced() const;
  [[nodiscard]] bool others_at_work() const;
  // As lock_when_free().
  [[nodiscard]] bool wait_for(const std::string& log, int descriptor) const;
  void keep_file();

  std::string file_;
  bool writes_;
  Identity before_;
  std::map<std::string, int> held_;  // the logs of the file, or their folder, locked
};

}  // namespace headrace::log_layout
