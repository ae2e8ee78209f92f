// Where in a grid something is logged, without a look at all of it.
#pragma once

#include <algorithm>
#include <cstdint>

#include "engine/box.hpp"

namespace headrace::engine::log {

template <typename Next, typename Action>
class LoggedPieces {
 public:
  LoggedPieces(const Grid& grid, const Next& next, const Action& action)
      : grid_(grid),
        next_(next),
        action_(action),
        strides_(strides_of(grid.rank, grid.dims, 1)),
        split_(grid.rank) {
    while (split_ > 1 && grid.chunk[split_ - 1] >= grid.dims[split_ - 1]) --split_;
    box_.count = grid.dims;
  }

  // Those of the part of the grid that is one piece in the dimensions before `d`.
  void visit(unsigned d) {
    if (d == split_) return action_(box_);
    const std::uint64_t extent = grid_.dims[d];
    const std::uint64_t length = grid_.chunk[d];
    for (std::uint64_t at = next(d, 0); at < extent; at = next(d, box_.start[d] + box_.count[d])) {
      box_.start[d] = at / length * length;
      box_.count[d] = std::min(length, extent - box_.start[d]);
      visit(d + 1);
    }
    box_.start[d] = 0;
    box_.count[d] = extent;
  }

 private:
  // A position in the first piece from `begin` on, where one begins, that any row of that part has
  // something in; else the extent.
  std::uint64_t next(unsigned d, std::uint64_t begin) const {
    const std::uint64_t extent = grid_.dims[d];
    std::uint64_t found = extent;
    if (begin == extent) return found;
    engine::Index at{};
    while (true) {
      std::uint64_t row = 0;
      for (unsigned i = 0; i < d; ++i) row += (box_.start[i] + at[i]) * strides_[i];
      const std::uint64_t end = std::min(begin + grid_.chunk[d], extent);
      const std::uint64_t element = next_(row + begin * strides_[d], row + end * strides_[d]);
      if (element / strides_[d] - row / strides_[d] < found)
        found = element / strides_[d] - row / strides_[d];
      unsigned i = d;
      while (i > 0 && ++at[i - 1] == box_.count[i - 1]) at[--i] = 0;
      if (i == 0 || (found < extent && found - begin < grid_.chunk[d])) return found;
    }
  }

  const Grid& grid_;
  const Next& next_;
  const Action& action_;
  const engine::Index strides_;
  unsigned split_;  // in no dimension from here on is there more than one piece
  Box box_;
};

// Calls action(box) for the pieces of a grid, in their order, of which something is logged.
// next(i, enough): the first element from number i on, row-major, that something is logged of, or
// any such one before `enough`; ~0 where there is none. The grid has fewer elements than that.
template <typename Next, typename Action>
void each_piece(const Grid& grid, const Next& next, const Action& action) {
  if (volume(grid.rank, grid.dims) > 0) LoggedPieces(grid, next, action).visit(0);
}

}  // namespace headrace::engine::log
