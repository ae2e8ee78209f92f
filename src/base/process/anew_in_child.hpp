// Something of the process, which a child after fork() has anew: another thread may have been
// changing the parent's, and nobody would finish that. Leaked, as it is used while the process
// exits.
#pragma once

#include <pthread.h>

namespace headrace {

template <typename T>
class AnewInChild {
 public:
  static T& get() {
    static_cast<void>(is_made_);
    return *slot();
  }

 private:
  static T*& slot() {
    static T* one = [] {
      ::pthread_atfork(nullptr, nullptr, [] { slot() = new T; });
      return new T;
    }();
    return one;
  }
  // When the library is loaded: no thread makes it while another one forks, for which the child
  // would wait.
  static inline const bool is_made_ = slot() != nullptr;
};

}  // namespace headrace
