// Signals that are kept from a thread, and from those that it starts.
#pragma once

#include <csignal>

namespace headrace {

// While it lives, all signals to the thread that has made it wait: a thread that is started then
// leaves them to those of the program.
class BlockedSignals {
 public:
  BlockedSignals() {
    sigset_t all;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_BLOCK, &all, &before_);
  }
  BlockedSignals(const BlockedSignals&) = delete;
  BlockedSignals& operator=(const BlockedSignals&) = delete;
  ~BlockedSignals() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_{};
};

}  // namespace headrace
