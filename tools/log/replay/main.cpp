// headrace-replay LIBHDF5 FILE LOG SYNC BANDWIDTH: puts the log of a closed file in order, or the
// logs of its ranks, of which LOG is the first, and needs nobody for it; the log layer starts it
// with canonicalise=background.
//
// headrace-replay --placed LIBHDF5 FILE LOG SYNC BANDWIDTH: the same of a log on the node's
// storage, for which a file beside it is locked that other nodes see.
//
// headrace-replay --move LIBHDF5 FILE LOG SYNC BANDWIDTH: moves the log of a node beside the file,
// and where that was the last one of the file does the above; without LIBHDF5 it leaves them there.
// headrace-replay --move LOG: for `headrace cache migrate`, which waits for it.
//
// headrace-replay --apart FILE COPY TARGET COMMAND...: has COMMAND put the logs in order
// (apart.hpp). headrace-replay --together LIBHDF5 FILE [COPY TARGET]: all ranks that are started so
// do (together.hpp). `headrace replay` uses these.
//
// With a copy, all work on that, which takes the file's place, or another one, when all is in it,
// so that they may be killed at any moment. docs/decisions/0012.
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apart.hpp"
#include "base/error.hpp"
#include "base/report/log.hpp"
#include "base/settings/settings.hpp"
#include "library.hpp"
#include "sidecar/background_process.hpp"
#include "sidecar/copy_file.hpp"
#include "sidecar/locks.hpp"
#include "sidecar/placed/moved_log.hpp"
#include "sidecar/placed/placed_log.hpp"
#include "sidecar/working_copy.hpp"
#include "together.hpp"

namespace headrace::replay {
namespace {

namespace fs = std::filesystem;

struct Job {
  Hdf5 hdf5;
  std::string file;
  std::string log;
  std::string sync;
  std::string bandwidth;
};

void put_in_order(const Job& job) {
  const std::string place = job.log + std::string(sidecar::kCopySuffix);
  sidecar::remove_copies(job.log);
  sidecar::WorkingCopy copy({job.file, place, job.file}, sidecar::logs_of(job.log),
                            Throttle(std::stoull(job.bandwidth)));
  open_and_close(job.hdf5, place, "sync=" + job.sync + ";bandwidth=" + job.bandwidth);
  if (copy.take_place().empty())
    throw Error("the log layer was not loaded, or the file does not name the log any more");
  log(Level::info, "file " + job.file + " is in order");
}

// Of the logs of a file's nodes, the one that stands for all.
std::string first_of(const fs::path& log) {
  const std::string name = log.filename();
  return log.parent_path() / (name.substr(0, name.find('.')) + ".n0.log");
}

bool is_same(const Descriptor& opened, const std::string& path) {
  struct stat there{};
  return ::stat(path.c_str(), &there) == 0 && there.st_ino == opened.status().st_ino;
}

// Whoever moves the last log of a file finds none on its node any more. The others' processes may
// have the lock for a moment, or for as long as one of them puts the logs in order.
void move_and_put_in_order(Job job) {
  Throttle throttle(std::stoull(job.bandwidth));
  sidecar::move_beside(job.log, throttle);
  if (job.hdf5.library.empty()) return;
  const std::string first = first_of(job.log);
  const bool has_lock = job.log == first;
  if (!has_lock) ::close(sidecar::kLockedDescriptor);
  const auto is_elsewhere = [](const fs::path& log) { return fs::is_symlink(log); };
  if (std::ranges::any_of(sidecar::logs_of(first), is_elsewhere)) return;
  std::optional<Descriptor> log;
  try {
    if (!has_lock) log.emplace(first, O_RDWR);
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::not_found) return;  // another one has put it in order
    throw;
  }
  if (log && (!sidecar::lock_when_free(log->get(), LOCK_EX) || !is_same(*log, first))) return;
  job.log = first;
  put_in_order(job);
}

void put_in_order_where_it_is(const Job& job) {
  const Descriptor log(sidecar::real_log(job.log), O_RDWR | O_NOFOLLOW);
  sidecar::lock_when_free(log.get(), LOCK_EX);
  try {
    put_in_order(job);
  } catch (const Error&) {
    ::unlink(sidecar::part_of(job.log).c_str());
    throw;
  }
}

int move_alone(const std::string& log) try {
  Throttle throttle = throttle_of_environment();
  if (const auto begun = sidecar::begin_move(log)) {
    sidecar::require_unused(log);
    sidecar::move_beside(log, throttle);
  }
  return EXIT_SUCCESS;
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return EXIT_FAILURE;
}

template <typename Work>
int run(const Job& job, const Work& work) {
  const std::array tables{global_settings()};
  read_environment(tables);
  configure_log();
  try {
    work(job);
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
  using namespace headrace::replay;
  constexpr int kUsage = 2;
  std::vector<std::string> words(argv + 1, argv + argc);
  if (words.size() == 3 && words[0] == "--together")
    return put_in_order_together(words[1], {words[2], "", words[2]});
  if (words.size() == 5 && words[0] == "--together")
    return put_in_order_together(words[1], {words[2], words[3], words[4]});
  if (words.size() > 4 && words[0] == "--apart")
    return put_in_order_apart({words[1], words[2], words[3]}, {words.begin() + 4, words.end()});
  if (words.size() == 2 && words[0] == "--move") return move_alone(words[1]);
  const bool moves = words.size() == 6 && words[0] == "--move";
  const bool placed = words.size() == 6 && words[0] == "--placed";
  if ((words.size() != 5 && !moves && !placed) ||
      ::flock(headrace::sidecar::kLockedDescriptor, LOCK_EX | LOCK_NB) != 0)
    return kUsage;
  // Who has started this goes on; signals to its process group are not for this one.
  const pid_t child = ::fork();
  if (child != 0) return child < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
  ::setsid();
  const auto here = std::filesystem::path(argv[0]).parent_path();
  const std::string plugins = here.parent_path() / "lib/plugins";
  if (moves || placed) words.erase(words.begin());
  const Job job{{words[0], plugins}, words[1], words[2], words[3], words[4]};
  if (moves) return run(job, &move_and_put_in_order);
  return run(job, placed ? &put_in_order_where_it_is : &put_in_order);
}
