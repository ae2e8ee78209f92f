#include "engine/threads/ordered.hpp"

#include <unistd.h>

#include <chrono>
#include <utility>

#include "engine/threads/thread_pool.hpp"

namespace headrace::engine {
namespace {

// The tasks of all objects that have not ended.
class Tasks {
 public:
  static Tasks& get() {
    static auto& tasks = *new Tasks;
    return tasks;
  }

  void begin() {
    const std::lock_guard lock(mutex_);
    ++count_;
  }
  void end() {
    const std::lock_guard lock(mutex_);
    if (--count_ == 0) none_.notify_all();
  }

 private:
  Tasks() {
    before_fork([this] { wait(); });
  }
  void wait() {
    // Looks again now and then: workers that are to run a task may wait for the forking thread.
    constexpr std::chrono::milliseconds kPatience{5};
    std::unique_lock lock(mutex_);
    while (count_ > 0) {
      lock.unlock();
      const bool helped = run_one();
      lock.lock();
      if (!helped) none_.wait_for(lock, kPatience, [this] { return count_ == 0; });
    }
  }

  std::mutex mutex_;
  std::condition_variable none_;
  std::size_t count_ = 0;
};

}  // namespace

Ordered::~Ordered() {
  for (const auto& slot : slots_) wait_for(*slot);
}

void Ordered::give(std::unique_ptr<Job> job) {
  while (slots_.size() >= window_) finish_oldest();
  Slot& slot = *slots_.emplace_back(std::make_unique<Slot>());
  slot.job = std::move(job);
  slot.process = ::getpid();
  Tasks::get().begin();
  try {
    run_later([this, &slot] {
      run(slot);
      Tasks::get().end();
    });
  } catch (...) {
    Tasks::get().end();
    slots_.pop_back();
    throw;
  }
}

void Ordered::finish() {
  while (!slots_.empty()) finish_oldest();
}

void Ordered::finish_done() {
  const auto done = [this] {
    const std::lock_guard lock(mutex_);
    return slots_.front()->done;
  };
  while (!slots_.empty() && done()) finish_oldest();
}

void Ordered::run(Slot& slot) {
  std::exception_ptr error;
  try {
    slot.job->work();
  } catch (...) {
    error = std::current_exception();
  }
  const std::lock_guard lock(mutex_);
  slot.error = std::move(error);
  slot.done = true;
  done_.notify_one();  // with the lock held: this object may be gone as soon as it is released
}

void Ordered::wait_for(Slot& slot) {
  // Given while another thread forked: the task stayed with the parent.
  if (slot.process != ::getpid() && !slot.done) {
    run(slot);
    Tasks::get().end();
  }
  const auto done = [&] {
    const std::lock_guard lock(mutex_);
    return slot.done;
  };
  if (done()) return;
  const WaitForTasks waiting;
  while (!done()) {
    if (run_one()) continue;
    std::unique_lock lock(mutex_);
    done_.wait(lock, [&] { return slot.done; });
  }
}

void Ordered::finish_oldest() {
  wait_for(*slots_.front());
  const std::unique_ptr<Slot> slot = std::move(slots_.front());
  slots_.pop_front();
  if (slot->error != nullptr) std::rethrow_exception(slot->error);
  slot->job->finish();
}

}  // namespace headrace::engine
