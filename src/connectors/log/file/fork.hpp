// Forks of the process: a child finds in the files what was logged before, and has no part in the
// parent's logs.
#pragma once

namespace headrace::log_layout {

// Lives as long as a callback runs.
class Running {
 public:
  Running();
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;
  ~Running();
};

// To be called when there is a log; from then on forks settle. A fork on another thread than the
// one that called HDF5 last cannot, as HDF5 may be at work there: the child has then lost what is
// logged, and is told so where it reads, flushes or closes the file.
void settle_before_forks();

}  // namespace headrace::log_layout
