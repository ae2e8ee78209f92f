// headrace-replay LIBHDF5 FILE LOG SYNC: puts the log of a closed file in order, or the logs of its
// ranks, of which LOG is the first, and needs nobody for it; the log layer starts it with
// canonicalise=background. It works on a copy, which takes the
// file's place when all is in it, so that it may be killed at any moment. docs/decisions/0012.
//
// headrace-replay --together LIBHDF5 FILE: puts logs in order in the file itself, by all ranks that
// are started so; `headrace replay --hdf5` does that.
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/error.hpp"
#include "base/log.hpp"
#include "base/settings.hpp"
#include "connectors/log/background.hpp"
#include "copy.hpp"
#include "library.hpp"
#include "together.hpp"

namespace headrace::replay {
namespace {

namespace fs = std::filesystem;

struct Job {
  Hdf5 hdf5;
  std::string file;
  std::string log;
  std::string sync;
};

// Its bytes, names, owner and mode: what changes any of them changes that time.
bool same(const struct stat& one, const struct stat& other) {
  return one.st_dev == other.st_dev && one.st_ino == other.st_ino && one.st_size == other.st_size &&
         one.st_ctim.tv_sec == other.st_ctim.tv_sec && one.st_ctim.tv_nsec == other.st_ctim.tv_nsec;
}

// Where the file system has no locks others have none either.
void lock(const Descriptor& file, int how, const char* otherwise) {
  using namespace std::chrono_literals;
  for (int tries = 0; ::flock(file.get(), how | LOCK_NB) != 0 && errno == EWOULDBLOCK; ++tries) {
    if (tries == 100) throw Error(otherwise);
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

// ID.log, or ID.0.log, ID.1.log ..., or ID.n0.log ..., given the first one.
std::vector<fs::path> logs_of(const fs::path& first) {
  const std::string name = first.filename();
  const std::string id = name.substr(0, name.find('.') + 1);
  std::vector<fs::path> logs;
  for (const auto& entry : fs::directory_iterator(first.parent_path())) {
    const std::string other = entry.path().filename();
    if (other.starts_with(id) && other.ends_with(".log")) logs.push_back(entry.path());
  }
  return logs;
}

// Beside the log; gone again unless it is put in the file's place.
class Copy {
 public:
  Copy(const Job& job, const Descriptor& file, const std::vector<fs::path>& logs)
      : path_(job.log + log_layout::kCopySuffix),
        folder_(job.log + log_layout::kCopysFolderSuffix) {
    remove();  // what was left of a process that was killed
    try {
      const Descriptor made(path_, O_RDWR | O_CREAT | O_EXCL, 0600);
      copy(file, made);
      fs::create_directory(folder_);
      for (const fs::path& log : logs) fs::create_symlink(log, fs::path(folder_) / log.filename());
    } catch (...) {
      remove();
      throw;
    }
  }
  Copy(const Copy&) = delete;
  Copy& operator=(const Copy&) = delete;
  ~Copy() { remove(); }

  [[nodiscard]] const std::string& path() const { return path_; }
  // Whether the layer has removed its logs, and the folder with the last of them.
  [[nodiscard]] bool in_order() const { return !fs::exists(folder_); }

 private:
  void remove() const {
    std::error_code failure;
    fs::remove(path_, failure);
    fs::remove_all(folder_, failure);
  }

  std::string path_;
  std::string folder_;
};

void put_in_order(const Job& job) {
  const Descriptor file(job.file, O_RDONLY);
  lock_as_reader(file);
  const struct stat before = file.status();
  if (before.st_nlink != 1) throw Error("it has several names, and would keep one only");
  const std::vector<fs::path> logs = logs_of(job.log);
  {
    const Copy copy(job, file, logs);
    open_and_close(job.hdf5, copy.path(), job.sync);
    if (!copy.in_order()) throw Error("the log layer was not loaded");
    sync(copy.path());
    // Ranks that are opening the file must all find the same one.
    const Descriptor folder(fs::path(job.log).parent_path(), O_RDONLY | O_DIRECTORY);
    lock(folder, LOCK_EX, "programs are opening it all the time");
    const Descriptor now(job.file, O_RDONLY);
    if (!same(before, now.status())) throw Error("it has been changed meanwhile");
    fs::rename(copy.path(), job.file);
  }
  sync(fs::path(job.file).parent_path());
  for (const fs::path& log : logs) fs::remove(log);
  std::error_code failure;
  fs::remove(fs::path(job.log).parent_path(), failure);  // where nothing else is in it
}

int run(const Job& job) {
  const std::array tables{global_settings()};
  read_environment(tables);
  configure_log();
  try {
    put_in_order(job);
    log(Level::info, "file " + job.file + " is in order");
    return EXIT_SUCCESS;
  } catch (const std::exception& error) {
    log(Level::warning,
        "file " + job.file +
            " was not put in order in the background, and its log remains: " + error.what());
    return EXIT_FAILURE;
  }
}

}  // namespace
}  // namespace headrace::replay

int main(int argc, char** argv) {
  constexpr int kUsage = 2;
  if (argc == 4 && argv[1] == std::string_view("--together"))
    return headrace::replay::put_in_order_together(argv[2], argv[3]);
  if (argc != 5 || ::flock(headrace::log_layout::kLogDescriptor, LOCK_EX | LOCK_NB) != 0)
    return kUsage;
  // Who has started this goes on; signals to its process group are not for this one.
  const pid_t child = ::fork();
  if (child != 0) return child < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
  ::setsid();
  const auto here = std::filesystem::path(argv[0]).parent_path();
  const std::string plugins = here.parent_path() / "lib/plugins";
  return headrace::replay::run({{argv[1], plugins}, argv[2], argv[3], argv[4]});
}
