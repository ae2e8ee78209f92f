#include "engine/threads/lending.hpp"

#include <functional>
#include <optional>

#include "engine/threads/thread_pool.hpp"

namespace headrace::engine {
namespace {

bool contains(std::span<const std::byte> whole, std::span<const std::byte> part) {
  const std::less_equal<> at_most;
  return at_most(whole.data(), part.data()) &&
         at_most(part.data() + part.size(), whole.data() + whole.size());
}

}  // namespace

void Completion::begin() {
  const std::lock_guard lock(mutex_);
  ++parts_;
}

void Completion::end(const std::exception_ptr& error) noexcept {
  const std::lock_guard lock(mutex_);
  if (error_ == nullptr) error_ = error;
  if (--parts_ > 0) return;
  ended_ = std::chrono::steady_clock::now();
  none_left_.notify_all();
}

bool Completion::wait(std::chrono::nanoseconds timeout) {
  using Clock = std::chrono::steady_clock;
  const auto done = [this] { return parts_ == 0; };
  const bool forever = timeout >= Clock::time_point::max() - Clock::now();
  const Clock::time_point until = forever ? Clock::time_point::max() : Clock::now() + timeout;
  std::optional<WaitForTasks> waiting;
  if (timeout > timeout.zero()) waiting.emplace();
  // A task may take longer than a limit allows; but with no worker nobody else would do it.
  while (forever || started_workers() == 0) {
    {
      const std::lock_guard lock(mutex_);
      if (done()) return true;
    }
    if (Clock::now() >= until || !run_one()) break;
  }
  std::unique_lock lock(mutex_);
  if (!forever) return none_left_.wait_until(lock, until, done);
  none_left_.wait(lock, done);
  return true;
}

std::exception_ptr Completion::error() const {
  const std::lock_guard lock(mutex_);
  return error_;
}

std::chrono::nanoseconds Completion::duration() const {
  const std::lock_guard lock(mutex_);
  return (parts_ == 0 ? ended_ : std::chrono::steady_clock::now()) - made_;
}

bool Lending::are_lent(std::span<const std::byte> bytes) {
  const Lending* const lent = current();
  return lent != nullptr && !bytes.empty() && contains(lent->bytes_, bytes);
}

std::shared_ptr<Completion> Lending::borrow(std::span<const std::byte> bytes) {
  if (!are_lent(bytes)) return {};
  std::shared_ptr<Completion>& completion = current()->completion_;
  if (completion == nullptr) completion = std::make_shared<Completion>();
  completion->begin();
  return completion;
}

}  // namespace headrace::engine
