#include "sidecar/background_process.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <thread>

#include "base/error.hpp"
#include "base/process/module_file.hpp"

namespace headrace::sidecar {
namespace {

// Others may have it for a moment, who try to open a file that is not closed yet.
void lock(int descriptor) {
  using namespace std::chrono_literals;
  for (int tries = 0; ::flock(descriptor, LOCK_EX | LOCK_NB) != 0; ++tries) {
    if (errno != EWOULDBLOCK || tries == 20) throw Error("it cannot be locked", errno);
    std::this_thread::sleep_for(5ms);
  }
}

// Nothing of the program's but its environment: no handlers, blocked signals or open files, whose
// locks would outlive the program's closing them; nor libraries that were made to be in it.
class Start {
 public:
  explicit Start(int locked) {
    ::posix_spawn_file_actions_init(&actions_);
    ::posix_spawn_file_actions_adddup2(&actions_, locked, kLockedDescriptor);
    for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
      ::posix_spawn_file_actions_addopen(&actions_, stream, "/dev/null", O_RDWR, 0);
    ::posix_spawn_file_actions_addclosefrom_np(&actions_, kLockedDescriptor + 1);
    ::posix_spawnattr_init(&attributes_);
    sigset_t signals;
    ::sigemptyset(&signals);
    ::posix_spawnattr_setsigmask(&attributes_, &signals);
    ::sigfillset(&signals);
    ::posix_spawnattr_setsigdefault(&attributes_, &signals);
    ::posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry)
      if (!std::string_view(*entry).starts_with("LD_PRELOAD=")) environment_.push_back(*entry);
    environment_.push_back(nullptr);
  }
  Start(const Start&) = delete;
  Start& operator=(const Start&) = delete;
  ~Start() {
    ::posix_spawnattr_destroy(&attributes_);
    ::posix_spawn_file_actions_destroy(&actions_);
  }

  void run(std::vector<std::string> words) {
    std::vector<char*> arguments;
    arguments.reserve(words.size() + 1);
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    pid_t child = 0;
    const int failure = ::posix_spawn(&child, arguments.front(), &actions_, &attributes_,
                                      arguments.data(), environment_.data());
    if (failure != 0) throw Error(words.front() + ": " + std::strerror(failure));
    // It forks and ends at once, so that the program has no child that it does not know.
    int status = 0;
    while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    if (status != 0) throw Error(words.front() + " does not start");
  }

 private:
  posix_spawn_file_actions_t actions_{};
  posix_spawnattr_t attributes_{};
  std::vector<char*> environment_;
};

}  // namespace

void start_background_process(const std::string& program, std::vector<std::string> arguments,
                              int locked) {
  lock(locked);
  const auto libraries = std::filesystem::path(module_file()).parent_path();
  arguments.insert(arguments.begin(), libraries.parent_path() / "bin" / program);
  Start(locked).run(std::move(arguments));
}

}  // namespace headrace::sidecar
