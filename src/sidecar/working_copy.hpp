// A copy of a file beside its logs, which are put in order in it: whoever is killed meanwhile, the
// file is what it was. docs/decisions/0012.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "sidecar/copy_file.hpp"

namespace headrace::sidecar {

// A copy cannot be made, or take the file's place.
class NoCopy : public Error {
 public:
  using Error::Error;
};

// What is in the folder beside a file, its own or not.
std::vector<std::filesystem::path> logs_beside(const std::string& file);
// ID.log, or ID.0.log, ID.1.log ..., or ID.n0.log ..., given the first one.
std::vector<std::filesystem::path> logs_of(const std::filesystem::path& first);

// Where a file is copied to, on the same file system as the target: the name that the copy gets in
// the end, which is the file's own, or one that nothing has.
struct Places {
  std::string file;
  std::string copy;
  std::string target;

  [[nodiscard]] bool replaces() const { return target == file; }
};

// Waits until nobody puts logs of the file in order, keeps others from it, and removes what those
// left that were killed. Where the file system has no locks others have none either.
class LogLocks {
 public:
  explicit LogLocks(const std::string& file);

 private:
  std::vector<std::unique_ptr<Descriptor>> held_;
};

// Gone again unless it takes its place. Others may read the file while this lives, but not write to
// it.
class WorkingCopy {
 public:
  // Beside it a folder with links to the logs. Throws Error: NoCopy, also where a copy of that name
  // is there, or a program has the file open for writing.
  // `throttle`: of copying.
  WorkingCopy(Places places, std::vector<std::filesystem::path> logs, Throttle throttle);
  WorkingCopy(const WorkingCopy&) = delete;
  WorkingCopy& operator=(const WorkingCopy&) = delete;
  ~WorkingCopy() { remove(); }

  // Gives it the name of the target. Where that is the file's, the logs that are in the copy go,
  // and nothing happens when nobody has written to it. Returns the logs that are in it: the layer
  // has removed their links. Throws Error.
  std::vector<std::filesystem::path> take_place();

 private:
  void make();
  [[nodiscard]] bool is_written_to() const;
  void require_own() const;
  void replace_file() const;
  void rename_to_target() const;
  void remove() const;

  Places places_;
  std::string folder_;
  std::vector<std::filesystem::path> logs_;
  Throttle throttle_;
  Descriptor original_;
  struct stat before_{};
  struct stat made_{};
};

}  // namespace headrace::sidecar
