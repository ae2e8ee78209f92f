// Buffers that a program has lent: it leaves them alone until it has waited for the request, so
// that their bytes can be written without a copy.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <exception>
#include <memory>
#include <mutex>
#include <span>

#include "base/call_scope.hpp"

namespace headrace::engine {

// What is still under way of one request. May be used from any thread.
class Completion {
 public:
  // One more part is under way; each ends once, with what went wrong or null.
  void begin();
  void end(const std::exception_ptr& error) noexcept;

  // Waits until no part is under way, doing work that waits for a worker meanwhile. Returns false
  // when that takes longer than `timeout`; zero only asks.
  bool wait(std::chrono::nanoseconds timeout);
  // The first error of its parts, or null.
  [[nodiscard]] std::exception_ptr error() const;
  // From its making to the end of its last part, or to now while one is under way.
  [[nodiscard]] std::chrono::nanoseconds duration() const;

 private:
  mutable std::mutex mutex_;
  std::condition_variable none_left_;
  std::size_t parts_ = 0;
  std::exception_ptr error_;
  std::chrono::steady_clock::time_point made_ = std::chrono::steady_clock::now();
  std::chrono::steady_clock::time_point ended_;
};

// While it lives, `bytes` are lent to what this thread does.
class Lending : public CallScope<Lending> {
 public:
  explicit Lending(std::span<const std::byte> bytes) : bytes_(bytes) {}

  // Null when nothing has asked for it: all was copied or is done.
  [[nodiscard]] std::shared_ptr<Completion> completion() const { return completion_; }

  // Of the scope on this thread that has all of `bytes` in it, with a part begun for the caller,
  // who must end it; null when they are not lent.
  static std::shared_ptr<Completion> borrow(std::span<const std::byte> bytes);
  // Whether there is such a scope.
  static bool are_lent(std::span<const std::byte> bytes);

 private:
  std::span<const std::byte> bytes_;
  std::shared_ptr<Completion> completion_;
};

}  // namespace headrace::engine
