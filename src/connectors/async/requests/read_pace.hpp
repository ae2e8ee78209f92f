// Whether small asynchronous reads of a dataset are worth putting together, by how they went.
#pragma once

#include <chrono>
#include <cstddef>

#include "engine/reading/pace.hpp"

namespace headrace::async {

class ReadPace {
 public:
  static constexpr std::size_t kMost = 4096;
  static constexpr std::size_t kSmall = 64U << 10U;  // bytes of a request at most

  // How many requests had better wait: few, until it is known.
  [[nodiscard]] std::size_t most_waiting() const { return state_ == State::unknown ? 64 : kMost; }
  // They are answered from memory: waiting gains nothing.
  [[nodiscard]] bool fast() const { return state_ == State::fast; }

  // A read that did not wait.
  void note_at_once(std::chrono::nanoseconds time) {
    slow_in_a_row_ = engine::reading::is_slow(kSmall, time) ? slow_in_a_row_ + 1 : 0;
    if (slow_in_a_row_ == 2) *this = {};
  }
  // Reads that waited; whether those that became of them were slow.
  void note_waited(bool slow) { state_ = slow ? State::slow : State::fast; }

 private:
  enum class State { unknown, slow, fast };
  State state_ = State::unknown;
  unsigned slow_in_a_row_ = 0;
};

}  // namespace headrace::async
