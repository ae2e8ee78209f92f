// Boxes that lie side by side or within one another, put together.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/box.hpp"

namespace headrace::engine {

// A box that is covered by its parts: no element of it belongs to none.
struct MergedBox {
  Box box;
  std::vector<std::uint32_t> parts;  // indices of the boxes it is made of, ascending
};

struct MergedBoxes {
  std::vector<MergedBox> boxes;  // each given box is a part of one
  bool overlap = false;          // some of them have elements in common
};

// Neighbours become one box where the union is one. O(n log n) for n boxes of which few overlap.
MergedBoxes merge(unsigned rank, std::span<const Box> boxes);

}  // namespace headrace::engine
