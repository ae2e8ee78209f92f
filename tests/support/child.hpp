// Child processes of tests.
#pragma once

#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>

namespace headrace::test {

// A copy of this process that does something and ends. One that hangs tells where
// (support/watchdog.cpp), before its parent does.
class Child {
 public:
  // `action` returns whether all is well.
  template <typename Action>
  explicit Child(Action action) : process_(::fork()) {
    if (process_ != 0) return;
    constexpr unsigned kLimitSeconds = 60;
    ::alarm(kLimitSeconds);
    ::_exit(action() ? EXIT_SUCCESS : EXIT_FAILURE);
  }
  // Waits until it ends. Whether all was well.
  bool ends_well() const {
    int status = -1;
    return ::waitpid(process_, &status, 0) == process_ && status == 0;
  }

 private:
  pid_t process_;
};

}  // namespace headrace::test
