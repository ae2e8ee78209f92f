// headrace-fuse STUB CONFIG: makes one HDF5 file of the set of a stub, in its place, and needs
// nobody for it; the layer stripe starts it with fuse=background, and hands over CONFIG open and
// locked. Who opens the file under the layer waits for that lock.
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "base/report/log.hpp"
#include "base/settings/settings.hpp"
#include "sidecar/background_process.hpp"
#include "sidecar/copy_file.hpp"
#include "sidecar/locks.hpp"
#include "sidecar/striped/fusion.hpp"

namespace headrace::sidecar {
namespace {

// What changes when somebody writes past the locks.
class Seen {
 public:
  explicit Seen(const StripedSet& set) {
    note(set.stub);
    for (const std::string& path : set.subfiles) note(path);
  }
  bool operator==(const Seen&) const = default;

 private:
  void note(const std::string& path) {
    const struct stat is = Descriptor(path, O_RDONLY).status();
    files_.push_back(
        {static_cast<std::int64_t>(is.st_ino), is.st_size, is.st_mtim.tv_sec, is.st_mtim.tv_nsec});
  }
  std::vector<std::array<std::int64_t, 4>> files_;
};

void fuse(const std::string& stub, const std::string& config) {
  const Descriptor locked(stub, O_RDONLY);
  lock_when_free(locked.get(), LOCK_SH);  // as HDF5 locks what it reads; the program ends its own
  const auto set = find_set(stub, std::filesystem::path(config).parent_path());
  if (!set || set->config != config) throw Error("it has been made anew");
  const Seen before(*set);
  const std::string copy = begin_fusion(*set, set->layout.whole_size(subfile_sizes(*set)));
  try {
    for (std::uint32_t number = 0; number < set->layout.count; ++number)
      fuse_subfile(*set, number, copy);
    if (Seen(*set) != before) throw Error("it was written to meanwhile");
    end_fusion(*set, copy);
    remove_pieces(*set);
  } catch (...) {
    abandon_fusion(copy);
    throw;
  }
}

int run(const std::string& stub, const std::string& config) {
  const std::array tables{global_settings()};
  read_environment(tables);
  configure_log();
  try {
    fuse(stub, config);
    log(Level::info, "stripe: " + stub + " is one file now");
    return EXIT_SUCCESS;
  } catch (const std::exception& error) {
    log(Level::warning, "stripe: " + stub + " stays in pieces: " + error.what());
    return EXIT_FAILURE;
  }
}

}  // namespace
}  // namespace headrace::sidecar

int main(int argc, char** argv) {
  using namespace headrace::sidecar;
  constexpr int kUsage = 2;
  const std::vector<std::string> words(argv + 1, argv + argc);
  if (words.size() != 2 || ::flock(kLockedDescriptor, LOCK_EX | LOCK_NB) != 0) return kUsage;
  // Who has started this goes on; signals to its process group are not for this one.
  const pid_t child = ::fork();
  if (child != 0) return child < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
  ::setsid();
  return run(words[0], words[1]);
}
