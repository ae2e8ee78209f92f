// A hang becomes a failure that shows where: after 90 s in one test the process prints the stacks
// of its threads by gdb, where there is one, and aborts. So does a child that has set an alarm.
#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

namespace {

constexpr unsigned kLimitSeconds = 90;
constexpr unsigned kChildLimitSeconds = 60;  // before its parent

void on_alarm(int /*signal*/) {
  ::prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
  const std::string command = "gdb -p " + std::to_string(getpid()) +
                              " -batch -ex 'thread apply all backtrace' >&2 2>/dev/null";
  [[maybe_unused]] const int status = std::system(command.c_str());
  std::abort();
}

class Watchdog : public testing::EmptyTestEventListener {
  void OnTestStart(const testing::TestInfo& /*info*/) override { alarm(kLimitSeconds); }
  void OnTestEnd(const testing::TestInfo& /*info*/) override { alarm(0); }
};

// The process that dies in a death test is a program of its own, in which no test starts.
bool in_death_test() {
  std::ifstream file("/proc/self/cmdline");
  const std::string command{std::istreambuf_iterator<char>(file), {}};
  return command.find("internal_run_death_test") != std::string::npos;
}

[[maybe_unused]] const bool installed = [] {
  std::signal(SIGALRM, &on_alarm);
  if (in_death_test()) alarm(kChildLimitSeconds);
  testing::UnitTest::GetInstance()->listeners().Append(new Watchdog);
  return true;
}();

}  // namespace
