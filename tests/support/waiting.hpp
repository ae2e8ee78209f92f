// Tests wait for events, never for a while. What does not come fails the test and says where it was
// waited for.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <filesystem>
#include <fstream>
#include <map>
#include <mutex>
#include <optional>
#include <source_location>
#include <string>
#include <string_view>
#include <thread>

namespace headrace::test {

using Where = std::source_location;

// More than anything takes on a slow machine, and less than support/watchdog.cpp waits.
constexpr std::chrono::seconds kPatience{60};

inline void fail_waiting(std::string_view what, const Where& where) {
  ADD_FAILURE_AT(where.file_name(), static_cast<int>(where.line()))
      << "in vain waited until " << what;
}

// Returns when `holds()` is true; false when it does not become so. May be called from any thread.
template <typename Condition>
bool wait_until(std::string_view what, Condition holds, const Where& where = Where::current()) {
  const auto end = std::chrono::steady_clock::now() + kPatience;
  while (!holds()) {
    if (std::chrono::steady_clock::now() > end) {
      fail_waiting(what, where);
      return false;
    }
    std::this_thread::sleep_for(std::chrono::microseconds(100));
  }
  return true;
}

// Where threads wait while it is closed.
class Gate {
 public:
  enum class State { open, closed };
  explicit Gate(State state = State::open) : open_(state == State::open) {}

  void close() { set(false); }
  void open() { set(true); }
  void pass(const Where& where = Where::current()) {
    std::unique_lock lock(mutex_);
    if (opened_.wait_for(lock, kPatience, [&] { return open_; })) return;
    fail_waiting("a gate was opened", where);
    open_ = true;  // nobody waits again
    opened_.notify_all();
  }

 private:
  void set(bool open) {
    const std::lock_guard lock(mutex_);
    open_ = open;
    opened_.notify_all();
  }

  std::mutex mutex_;
  std::condition_variable opened_;
  bool open_;
};

// Of each thread but the calling one how often it was switched, by its number. Nothing when one of
// them does not sleep.
inline std::optional<std::map<std::string, std::string>> sleepers() {
  std::map<std::string, std::string> found;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    if (task.path().filename() == std::to_string(::gettid())) continue;
    std::ifstream status(task.path() / "status");
    bool sleeps = false;
    std::string& switches = found[task.path().filename()];
    for (std::string line; std::getline(status, line);) {
      sleeps = sleeps || line.starts_with("State:\tS");
      if (line.find("ctxt_switches") != std::string::npos) switches += line;
    }
    if (!sleeps) return std::nullopt;
  }
  return found;
}

// Returns when all other threads of the process sleep at one time: until this one does something or
// a time limit ends, no more will happen. A thread that a fake device keeps asleep sleeps, too.
inline bool wait_for_rest(const Where& where = Where::current()) {
  const auto at_rest = [] {
    const auto before = sleepers();
    return before && sleepers() == before;  // nobody woke up between the two
  };
  return wait_until("all other threads slept", at_rest, where);
}

}  // namespace headrace::test
