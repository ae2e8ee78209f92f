#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "engine/log/pieces.hpp"
#include "support/rounds.hpp"

namespace headrace::engine::log {
namespace {

constexpr std::uint64_t kNone = ~std::uint64_t{0};

struct Interval {
  std::uint64_t begin, end;
};

Grid some_grid(std::mt19937& random) {
  Grid grid;
  grid.rank = 1 + random() % 4;
  for (unsigned d = 0; d < grid.rank; ++d) {
    grid.dims[d] = 1 + random() % 9;
    grid.chunk[d] = 1 + random() % 6;  // may be more than there is
  }
  return grid;
}

std::uint64_t next_of(const std::vector<Interval>& logged, std::uint64_t begin) {
  std::uint64_t found = kNone;
  for (const Interval& one : logged)
    if (one.end > begin) found = std::min(found, std::max(begin, one.begin));
  return found;
}

bool any(const Grid& grid, const Box& box, const std::vector<Interval>& logged) {
  const Index strides = strides_of(grid.rank, grid.dims, 1);
  for (std::uint64_t i = 0; i < volume(grid.rank, box.count); ++i) {
    std::uint64_t element = 0;
    std::uint64_t rest = i;
    for (unsigned d = grid.rank; d-- > 0; rest /= box.count[d])
      element += (box.start[d] + rest % box.count[d]) * strides[d];
    if (next_of(logged, element) == element) return true;
  }
  return false;
}

std::vector<Index> starts_of(const Grid& grid, const std::vector<Interval>& logged) {
  std::vector<Index> starts;
  each_piece(
      grid, [&](std::uint64_t begin, std::uint64_t) { return next_of(logged, begin); },
      [&](const Box& box) {
        starts.push_back(box.start);
        EXPECT_TRUE(grid.aligned(box));
      });
  return starts;
}

TEST(LogPieces, AreThoseThatHoldSomething) {
  std::mt19937 random(5);
  for (unsigned round = 0; round < test::rounds(3000); ++round) {
    const Grid grid = some_grid(random);
    const std::uint64_t size = volume(grid.rank, grid.dims);
    std::vector<Interval> logged;
    for (std::uint64_t n = random() % 5; n-- > 0;) {
      const std::uint64_t begin = random() % size;
      logged.push_back({begin, begin + 1 + random() % std::min<std::uint64_t>(size - begin, 12)});
    }
    std::vector<Index> expected;
    Box all;
    all.count = grid.dims;
    Pieces pieces(grid, all);
    for (Piece piece; pieces.next(piece);)
      if (any(grid, piece.box, logged)) expected.push_back(piece.box.start);
    ASSERT_EQ(starts_of(grid, logged), expected) << "round " << round;
  }
}

// One piece after the other would take years.
TEST(LogPieces, AreFoundInLargeGrids) {
  constexpr std::uint64_t kLarge = std::uint64_t{1} << 40;
  Grid grid;
  grid.rank = 3;
  std::fill_n(grid.dims.begin(), 3, 1 << 20);
  grid.dims[2] = kLarge >> 20;
  std::fill_n(grid.chunk.begin(), 3, 2);
  const auto found = starts_of(grid, {{7, 8}, {(kLarge << 20) - 3, (kLarge << 20) - 1}});
  ASSERT_EQ(found.size(), 3U);
  EXPECT_EQ(found[0][2], 6U);
  EXPECT_EQ(found[2][0], (1U << 20) - 2);
}

TEST(LogPieces, ThereAreNoneOfNothing) {
  Grid grid;
  grid.rank = 2;
  grid.chunk = {1, 1};
  grid.dims = {0, 5};
  EXPECT_TRUE(starts_of(grid, {}).empty());
}

}  // namespace
}  // namespace headrace::engine::log
