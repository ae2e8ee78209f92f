// Whether small asynchronous reads of a dataset are worth putting together, by how they went.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>

#include "engine/box.hpp"
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

// About how often HDF5 reads from the file for a box that is not empty: once for each chunk; of
// contiguous data (chunks of 0) once for each run, or for each full sieve buffer where runs are
// close together.
inline std::uint64_t reads_for(const engine::Grid& grid, std::size_t element,
                               const engine::Box& box) {
  const engine::Index strides = engine::strides_of(grid.rank, grid.dims, element);
  std::uint64_t span = 0;
  std::uint64_t runs = 1;
  std::uint64_t chunks = 1;
  bool whole = true;  // all faster dimensions
  for (unsigned d = grid.rank; d-- > 0;) {
    const std::uint64_t last = box.start[d] + box.count[d] - 1;
    if (grid.chunk[0] != 0) chunks *= last / grid.chunk[d] - box.start[d] / grid.chunk[d] + 1;
    span += (box.count[d] - 1) * strides[d];
    if (!whole) runs *= box.count[d];
    whole = whole && box.count[d] == grid.dims[d];
  }
  return grid.chunk[0] != 0 ? chunks : std::min(runs, span / ReadPace::kSmall + 1);
}

}  // namespace headrace::async
