// Joins boxes that touch, so that fewer transfers do.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

#include "engine/box.hpp"

namespace headrace::engine {

// Takes boxes in row-major order, as chunks are, no two of which overlap, and calls action(box)
// with boxes that hold the same elements and at most `most` each, unless one given holds more.
template <typename Action>
class JoinedBoxes {
 public:
  JoinedBoxes(unsigned rank, std::uint64_t most, const Action& action)
      : rank_(rank), most_(most), action_(action) {}

  void add(const Box& box) { add(box, 0); }
  // To be called last.
  void finish() {
    for (unsigned level = 0; level < rank_; ++level)
      if (held_[level].count[0] > 0) add(std::exchange(held_[level], {}), level + 1);
  }

 private:
  // What cannot grow any more at a level is joined with its like at the next one: rows of chunks
  // to planes.
  void add(const Box& box, unsigned level) {
    if (level == rank_) return action_(box);
    Box& held = held_[level];
    if (held.count[0] > 0) {
      if (join(held, box)) return;
      add(held, level + 1);
    }
    held = box;
  }

  // Whether `box` begins where `held` ends, in one dimension, and is like it in the others.
  bool join(Box& held, const Box& box) const {
    unsigned along = rank_;
    for (unsigned d = 0; d < rank_; ++d) {
      if (box.start[d] == held.start[d] && box.count[d] == held.count[d]) continue;
      if (along < rank_ || box.start[d] != held.start[d] + held.count[d]) return false;
      along = d;
    }
    if (along == rank_ || volume(rank_, held.count) + volume(rank_, box.count) > most_)
      return false;
    held.count[along] += box.count[along];
    return true;
  }

  unsigned rank_;
  std::uint64_t most_;
  const Action& action_;
  std::array<Box, kMaxRank> held_{};  // by level; empty ones hold nothing
};

}  // namespace headrace::engine
