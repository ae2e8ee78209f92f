// The boxes of an AMReX hierarchy and which rank has which.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace headrace::bench::amrex {

struct Box {
  std::array<std::int32_t, 3> low{};
  std::array<std::int32_t, 3> high{};  // inclusive

  [[nodiscard]] std::uint64_t cells() const;
  friend bool operator==(const Box&, const Box&) = default;
};

// A level's boxes, those of rank 0 first.
struct Level {
  std::int32_t domain = 0;  // cells along each side, were all of it refined
  std::vector<Box> boxes;
  std::vector<std::int64_t> offsets;     // of their data, and the end
  std::vector<std::size_t> first_boxes;  // of each rank, and the end

  // Elements before a rank's, and the rank's own.
  [[nodiscard]] std::uint64_t begin(int rank) const;
  [[nodiscard]] std::uint64_t count(int rank) const;
};

// Level 0 is a cube of `domain` cells a side; each further one refines by 2 a cube of as many
// cells in the middle of it. Boxes have `grid` cells a side and are dealt out in turns.
Level make_level(int level, std::int32_t domain, std::int32_t grid, int components, int ranks);

}  // namespace headrace::bench::amrex
