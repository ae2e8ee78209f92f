// A hang becomes a failure that shows where: after 90 s in one test the process prints the stacks
// of its threads by gdb, where there is one, and aborts.
#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <string>

namespace {

constexpr unsigned kLimitSeconds = 90;

void on_alarm(int /*signal*/) {
  const std::string command = "gdb -p " + std::to_string(getpid()) +
                              " -batch -ex 'thread apply all backtrace' >&2 2>/dev/null";
  [[maybe_unused]] const int status = std::system(command.c_str());
  std::abort();
}

class Watchdog : public testing::EmptyTestEventListener {
  void OnTestStart(const testing::TestInfo& /*info*/) override { alarm(kLimitSeconds); }
  void OnTestEnd(const testing::TestInfo& /*info*/) override { alarm(0); }
};

[[maybe_unused]] const bool installed = [] {
  prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
  std::signal(SIGALRM, &on_alarm);
  testing::UnitTest::GetInstance()->listeners().Append(new Watchdog);
  return true;
}();

}  // namespace
