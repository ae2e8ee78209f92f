// The signal of a file that may grow no further (RLIMIT_FSIZE).
#pragma once

#include <csignal>
#include <ctime>

namespace headrace {

// While it lives, a file that may grow no further (RLIMIT_FSIZE) is an error of the write and no
// signal that ends the program.
class NoSizeSignal {
 public:
  NoSizeSignal() {
    ::sigemptyset(&signal_);
    ::sigaddset(&signal_, SIGXFSZ);
    ::pthread_sigmask(SIG_BLOCK, &signal_, &before_);
  }
  NoSizeSignal(const NoSizeSignal&) = delete;
  NoSizeSignal& operator=(const NoSizeSignal&) = delete;
  ~NoSizeSignal() {
    const std::timespec at_once{};
    if (::sigismember(&before_, SIGXFSZ) == 0) ::sigtimedwait(&signal_, nullptr, &at_once);
    ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }

 private:
  sigset_t signal_{};
  sigset_t before_{};
};

}  // namespace headrace
