// Which chunks of a dataset calls come back to, and how many others they touch in between: what a
// cache must hold to have a chunk still when it is touched again (its reuse distance, Mattson et
// al., "Evaluation techniques for storage hierarchies", 1970).
#pragma once

#include <cstdint>
#include <vector>

#include "engine/box.hpp"

namespace headrace::engine {

class ChunkReuse {
 public:
  // Bytes of memory at most.
  static constexpr std::uint64_t kMemory = std::uint64_t{1} << 20U;

  // Of an array in chunks. False when it has more chunks than can be followed. Forgets what was
  // touched where another dimension than the first one has changed.
  bool follow(const Grid& grid);

  // A call touches the chunks of elements in that box, which lies within the array. Returns how
  // many chunks a cache must hold for those that were touched before: at least as many as lie
  // between, 0 where none was.
  std::uint64_t touch(const Box& elements);

 private:
  Grid grid_;
  Index chunks_{};                    // in each dimension
  Box last_;                          // of chunks, that the last call has touched
  std::uint64_t touched_ = 0;         // chunks, in all calls but repetitions
  std::vector<std::uint64_t> times_;  // by chunk: what that was at its last touch; 0 before
};

}  // namespace headrace::engine
