// Between a program that opens a file and processes that put its logs in order. No HDF5. See
// docs/decisions/0012.
#pragma once

#include <exception>
#include <map>
#include <optional>
#include <string>
#include <utility>

namespace headrace::sidecar {

// Thrown by all ranks that open a file together when a process was in the way of one of them: they
// open the file again.
struct OpenedInVain : std::exception {};

// Lives while a file is being opened. Of several ranks each has one, which waits for no other rank.
class OpeningGuard {
 public:
  // A program that `writes` waits until no process works on the file; none begins while the guard
  // lives. A program that reads keeps processes from replacing the file meanwhile.
  OpeningGuard(const char* name, bool writes);
  OpeningGuard(const OpeningGuard&) = delete;
  OpeningGuard& operator=(const OpeningGuard&) = delete;
  ~OpeningGuard();

  // The file's absolute path; not by a symbolic link, as its logs are beside the file itself.
  [[nodiscard]] const std::string& path() const { return file_; }
  // Whether there may be logs of it.
  [[nodiscard]] bool has_folder() const { return has_folder_; }
  // Of an opening that has failed: whether a process may be why, having begun or ended meanwhile.
  [[nodiscard]] bool in_vain() const;
  // Of an opening that has succeeded: whether ranks may have opened different files, or one that a
  // process works on.
  [[nodiscard]] bool overtaken() const;

 private:
  using Identity = std::optional<std::pair<unsigned long, unsigned long>>;  // device and inode
  [[nodiscard]] Identity identity() const;
  [[nodiscard]] bool replaced() const;
  [[nodiscard]] bool others_at_work() const;
  // As lock_when_free().
  [[nodiscard]] bool wait_for(const std::string& log, int descriptor) const;
  void keep_file();

  std::string file_;
  bool writes_;
  bool has_folder_ = false;
  Identity before_;
  std::map<std::string, int> held_;  // the logs of the file, or their folder, locked
};

}  // namespace headrace::sidecar
