// Work done on worker threads, and finished on the calling thread in the order it was given.
#pragma once

#include <sys/types.h>

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>

namespace headrace::engine {

class Job {
 public:
  Job() = default;
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;
  virtual ~Job() = default;
  // On any thread; calls no HDF5. What it throws is thrown to the one who gave the job, and
  // finish() is not called then.
  virtual void work() = 0;
  // On the thread that gave the job.
  virtual void finish() = 0;
};

// Jobs may be nested: finish() may use an Ordered of its own. A fork waits until no job works.
class Ordered {
 public:
  // At most `window` jobs exist at a time: give() waits for the oldest.
  explicit Ordered(std::size_t window) : window_(window) {}
  Ordered(const Ordered&) = delete;
  Ordered& operator=(const Ordered&) = delete;
  // Waits for what works still, and finishes nothing.
  ~Ordered();

  // Throws what an earlier job threw.
  void give(std::unique_ptr<Job> job);
  // Returns when all jobs are finished; throws what one of them threw.
  void finish();
  // Finishes the oldest jobs as far as they have been worked on; waits for none.
  void finish_done();
  // Waits for the oldest job and finishes it. There is one.
  void finish_oldest();
  [[nodiscard]] bool empty() const { return slots_.empty(); }

 private:
  struct Slot {
    std::unique_ptr<Job> job;
    std::exception_ptr error;
    pid_t process = 0;  // that its task is in
    bool done = false;
  };
  void run(Slot& slot);
  void wait_for(Slot& slot);

  std::size_t window_;
  std::mutex mutex_;
  std::condition_variable done_;
  std::deque<std::unique_ptr<Slot>> slots_;
};

}  // namespace headrace::engine
