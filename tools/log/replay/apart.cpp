#include "apart.hpp"

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <span>

#include "base/settings/settings.hpp"
#include "layers/log/settings.hpp"

namespace headrace::replay {
namespace {

int run(std::vector<std::string> words) {
  std::vector<char*> arguments;
  arguments.reserve(words.size() + 1);
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  pid_t child = 0;
  const int failure =
      ::posix_spawn(&child, arguments.front(), nullptr, nullptr, arguments.data(), environ);
  if (failure != 0) throw Error(words.front() + ": " + std::strerror(failure));
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFSIGNALED(status))
    throw Error(words.front() + " was ended by signal " + std::to_string(WTERMSIG(status)));
  return WEXITSTATUS(status);
}

std::vector<std::string> with(std::vector<std::string> command, const std::string& file,
                              const char* mode) {
  command.push_back(file);
  command.emplace_back(mode);
  return command;
}

int act(const sidecar::Places& places, const std::vector<std::string>& command) {
  const sidecar::LogLocks locks(places.file);
  if (const int status = run(with(command, places.file, "r")); status != 0) return status;
  sidecar::WorkingCopy copy(places, sidecar::logs_beside(places.file), throttle_of_environment());
  if (const int status = run(with(command, places.copy, "r+")); status != 0) return status;
  finish(copy);
  return EXIT_SUCCESS;
}

}  // namespace

Throttle throttle_of_environment() {
  const std::array tables{std::span<const Setting>(log_layout::kSettings)};
  read_environment(tables);
  return Throttle(number_of(log_layout::kSettings, "bandwidth", {}));
}

void finish(sidecar::WorkingCopy& copy) {
  for (const auto& log : copy.take_place())
    std::fwrite(log.c_str(), 1, log.native().size() + 1, stdout);
}

std::string text_of(const sidecar::Places& places, const std::exception& error) {
  std::string text = error.what();
  if (places.copy.empty()) return text;
  for (std::size_t at = 0; (at = text.find(places.copy, at)) != std::string::npos;
       at += places.file.size())
    text.replace(at, places.copy.size(), places.file);
  const bool copies = dynamic_cast<const sidecar::NoCopy*>(&error) != nullptr;
  return copies && places.replaces() ? text + "; `--in-place` needs no copy" : text;
}

int put_in_order_apart(const sidecar::Places& places, const std::vector<std::string>& command) {
  try {
    return act(places, command);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", text_of(places, error).c_str());
    return EXIT_FAILURE;
  }
}

}  // namespace headrace::replay
