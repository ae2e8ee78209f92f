#include "engine/ordered.hpp"

#include <utility>

#include "engine/thread_pool.hpp"

namespace headrace::engine {

Ordered::~Ordered() {
  for (const auto& slot : slots_) wait_for(*slot);
}

void Ordered::give(std::unique_ptr<Job> job) {
  while (slots_.size() >= window_) finish_oldest();
  Slot& slot = *slots_.emplace_back(std::make_unique<Slot>());
  slot.job = std::move(job);
  try {
    run_later([this, &slot] { run(slot); });
  } catch (...) {
    slots_.pop_back();
    throw;
  }
}

void Ordered::finish() {
  while (!slots_.empty()) finish_oldest();
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

void Ordered::wait_for(const Slot& slot) {
  while (true) {
    {
      const std::lock_guard lock(mutex_);
      if (slot.done) return;
    }
    if (run_one()) continue;
    std::unique_lock lock(mutex_);
    done_.wait(lock, [&] { return slot.done; });
    return;
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
