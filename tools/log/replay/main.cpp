// headrace-replay LIBHDF5 FILE LOG SYNC BANDWIDTH: puts the log of a closed file in order, or the
// logs of its ranks, of which LOG is the first, and needs nobody for it; the log layer starts it
// with canonicalise=background.
//
// headrace-replay --apart FILE COPY TARGET COMMAND...: has COMMAND put the logs in order
// (apart.hpp). headrace-replay --together LIBHDF5 FILE [COPY TARGET]: all ranks that are started so
// do (together.hpp). `headrace replay` uses these.
//
// With a copy, all work on that, which takes the file's place, or another one, when all is in it,
// so that they may be killed at any moment. docs/decisions/0012.
#include <sys/file.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "apart.hpp"
#include "base/error.hpp"
#include "base/report/log.hpp"
#include "base/settings/settings.hpp"
#include "library.hpp"
#include "sidecar/background_process.hpp"
#include "sidecar/locks.hpp"
#include "sidecar/working_copy.hpp"
#include "together.hpp"

namespace headrace::replay {
namespace {

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
  using namespace headrace::replay;
  constexpr int kUsage = 2;
  const std::vector<std::string> words(argv + 1, argv + argc);
  if (words.size() == 3 && words[0] == "--together")
    return put_in_order_together(words[1], {words[2], "", words[2]});
  if (words.size() == 5 && words[0] == "--together")
    return put_in_order_together(words[1], {words[2], words[3], words[4]});
  if (words.size() > 4 && words[0] == "--apart")
    return put_in_order_apart({words[1], words[2], words[3]}, {words.begin() + 4, words.end()});
  if (words.size() != 5 || ::flock(headrace::sidecar::kLockedDescriptor, LOCK_EX | LOCK_NB) != 0)
    return kUsage;
  // Who has started this goes on; signals to its process group are not for this one.
  const pid_t child = ::fork();
  if (child != 0) return child < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
  ::setsid();
  const auto here = std::filesystem::path(argv[0]).parent_path();
  const std::string plugins = here.parent_path() / "lib/plugins";
  return run({{words[0], plugins}, words[1], words[2], words[3], words[4]});
}
