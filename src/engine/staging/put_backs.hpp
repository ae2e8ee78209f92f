// Writes that put back what had just been read, as HDF5's sieve buffers do: each contiguous dataset
// has one, so they go through a file in several places by turns.
#pragma once

#include <array>
#include <cstdint>

namespace headrace::engine::staging {

class PutBacks {
 public:
  // Takes up one more, of the bytes from `offset` to `end`. Whether the last ones, too many for
  // chance, have all gone forward: each anywhere behind the one before, or right behind another of
  // the places that were written last.
  bool go_forward(std::uint64_t offset, std::uint64_t end);

 private:
  std::array<std::uint64_t, 4> ends_{};  // of places; what was written last comes first
  unsigned forward_ = 0;                 // how many in a row have gone forward
};

}  // namespace headrace::engine::staging
