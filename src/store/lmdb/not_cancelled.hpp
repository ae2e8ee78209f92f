// Work that a thread which is cancelled goes on with to its end.
#pragma once

#include <pthread.h>

namespace headrace::store {

class NotCancelled {
 public:
  NotCancelled() { ::pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before_); }
  NotCancelled(const NotCancelled&) = delete;
  NotCancelled& operator=(const NotCancelled&) = delete;
  ~NotCancelled() { ::pthread_setcancelstate(before_, nullptr); }

 private:
  int before_ = PTHREAD_CANCEL_ENABLE;
};

}  // namespace headrace::store
