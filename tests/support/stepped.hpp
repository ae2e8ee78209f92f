// Processes that are killed after so many of their instructions, or calls of the system.
#pragma once

#include <gtest/gtest.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>

namespace headrace::test {

// A child that does something, an instruction at a time, or (PTRACE_SYSCALL) from one end of a call
// of the system to the next.
class Stepped {
 public:
  explicit Stepped(const std::function<void()>& action,
                   enum __ptrace_request each = PTRACE_SINGLESTEP)
      : each_(each), child_(::fork()) {
    if (child_ == 0) {
      if (::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) != 0) ::_exit(1);
      ::raise(SIGSTOP);
      action();
      ::_exit(0);
    }
    ::waitpid(child_, &status_, 0);
    EXPECT_TRUE(WIFSTOPPED(status_)) << "processes cannot be traced here";
  }
  Stepped(const Stepped&) = delete;
  Stepped& operator=(const Stepped&) = delete;
  ~Stepped() {
    if (!WIFSTOPPED(status_)) return;
    ::kill(child_, SIGKILL);
    ::waitpid(child_, &status_, 0);
  }

  // How many of at most so many it made before it was done.
  int step(int most) {
    int made = 0;
    for (; made < most && WIFSTOPPED(status_); ++made) {
      ::ptrace(each_, child_, nullptr, nullptr);
      ::waitpid(child_, &status_, 0);
    }
    return made;
  }

 private:
  enum __ptrace_request each_;
  pid_t child_;
  int status_ = 0;
};

// Calls a trial with more and more instructions, up to `all`: some seconds of them.
inline void for_steps(int all, const std::function<void(int)>& trial) {
  constexpr int kInAll = 150'000;
  const int trials = std::clamp(2 * kInAll / std::max(all, 1), 4, 60);
  EXPECT_GT(all, 20);
  for (int i = 0; i < trials && !::testing::Test::HasFatalFailure(); ++i) {
    const auto steps = static_cast<int>(std::int64_t{all} * i / trials);
    SCOPED_TRACE("killed after " + std::to_string(steps) + " of " + std::to_string(all));
    trial(steps);
  }
}

inline constexpr int kAny = std::numeric_limits<int>::max();

}  // namespace headrace::test
