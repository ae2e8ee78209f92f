// Keeps what somebody writes within so many bytes a second, so as to leave a shared disk to others.
#pragma once

#include <chrono>
#include <cstdint>
#include <thread>

namespace headrace {

// One thread only.
class Throttle {
 public:
  // Of bytes a second, on average from now on; 0 is no bound.
  explicit Throttle(std::uint64_t rate) : rate_(rate) {}

  // So many bytes have been written: returns when that is no more than there may be.
  void spend(std::uint64_t bytes) {
    if (rate_ == 0) return;
    spent_ += bytes;
    const std::chrono::duration<double> due(static_cast<double>(spent_) /
                                            static_cast<double>(rate_));
    std::this_thread::sleep_until(begin_ + std::chrono::duration_cast<Clock::duration>(due));
  }

 private:
  using Clock = std::chrono::steady_clock;

  std::uint64_t rate_;
  std::uint64_t spent_ = 0;
  Clock::time_point begin_ = Clock::now();
};

}  // namespace headrace
