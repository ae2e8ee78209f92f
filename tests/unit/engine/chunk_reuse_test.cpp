// How far apart calls touch a chunk again, against a list of all that was touched in between.
#include "engine/chunk_reuse.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>
#include <vector>

namespace headrace::engine {
namespace {

constexpr Grid kGrid{2, {100, 60}, {10, 20}};  // 10 x 3 chunks

ChunkReuse following(const Grid& grid) {
  ChunkReuse reuse;
  EXPECT_TRUE(reuse.follow(grid));
  return reuse;
}

TEST(ChunkReuse, RowsNeedARowOfChunks) {
  ChunkReuse reuse = following(kGrid);
  EXPECT_EQ(reuse.touch({{0, 0}, {1, 60}}), 0U);
  for (std::uint64_t row = 1; row < 10; ++row) EXPECT_EQ(reuse.touch({{row, 0}, {1, 60}}), 3U);
  EXPECT_EQ(reuse.touch({{10, 0}, {1, 60}}), 0U);  // the next row of chunks
}

TEST(ChunkReuse, ColumnsNeedAColumnOfChunks) {
  ChunkReuse reuse = following(kGrid);
  EXPECT_EQ(reuse.touch({{0, 0}, {100, 1}}), 0U);
  EXPECT_EQ(reuse.touch({{0, 1}, {100, 1}}), 10U);
}

TEST(ChunkReuse, CellsOfAPlaneNeedThePlane) {
  ChunkReuse reuse = following({3, {20, 20, 20}, {10, 10, 10}});  // 2 x 2 x 2
  std::uint64_t most = 0;
  for (std::uint64_t i = 0; i < 2; ++i)
    for (std::uint64_t j = 0; j < 20; ++j)
      most = std::max(most, reuse.touch({{i, j, 0}, {1, 1, 20}}));
  EXPECT_EQ(most, 4U);  // not 2 x 20 cells
}

TEST(ChunkReuse, WhatIsTouchedOnceNeedsNothing) {
  ChunkReuse reuse = following(kGrid);
  for (std::uint64_t row = 0; row < 100; row += 10)
    EXPECT_EQ(reuse.touch({{row, 0}, {10, 60}}), 0U);
  EXPECT_EQ(reuse.touch({{0, 0}, {10, 60}}), 30U);  // from the start again
}

TEST(ChunkReuse, NothingSelectedTouchesNothing) {
  ChunkReuse reuse = following(kGrid);
  EXPECT_EQ(reuse.touch({{0, 0}, {0, 60}}), 0U);
  EXPECT_EQ(reuse.touch({{0, 0}, {1, 60}}), 0U);
}

TEST(ChunkReuse, GrowthOfTheFirstDimensionForgetsNothing) {
  ChunkReuse reuse = following(kGrid);
  reuse.touch({{0, 0}, {1, 60}});
  EXPECT_TRUE(reuse.follow({2, {200, 60}, {10, 20}}));
  EXPECT_EQ(reuse.touch({{199, 0}, {1, 60}}), 0U);
  EXPECT_EQ(reuse.touch({{0, 0}, {1, 60}}), 6U);
  EXPECT_TRUE(reuse.follow({2, {200, 100}, {10, 20}}));
  EXPECT_EQ(reuse.touch({{0, 0}, {1, 100}}), 0U);
}

TEST(ChunkReuse, RefusesMoreChunksThanItHasMemoryFor) {
  ChunkReuse reuse;
  EXPECT_FALSE(reuse.follow({1, {ChunkReuse::kMemory}, {1}}));
  EXPECT_FALSE(reuse.follow({2, {~std::uint64_t{0}, ~std::uint64_t{0}}, {1, 1}}));
}

// A cache of so many chunks, of which that goes which was not used for longest, still has them.
TEST(ChunkReuse, IsNeverLessThanACacheNeeds) {
  std::mt19937 random(7);
  const auto below = [&](std::uint64_t end) {
    return std::uniform_int_distribution<std::uint64_t>(0, end - 1)(random);
  };
  for (int round = 0; round < 200; ++round) {
    ChunkReuse reuse = following(kGrid);
    std::vector<std::set<std::uint64_t>> calls;
    for (int call = 0; call < 30; ++call) {
      Box box{{below(100), below(60)}, {}};
      box.count = {1 + below(100 - box.start[0]), 1 + below(60 - box.start[1])};
      std::set<std::uint64_t> chunks;
      for (std::uint64_t i = box.start[0]; i < box.start[0] + box.count[0]; ++i)
        for (std::uint64_t j = box.start[1]; j < box.start[1] + box.count[1]; ++j)
          chunks.insert(i / 10 * 3 + j / 20);
      std::uint64_t least = 0;
      for (const std::uint64_t chunk : chunks) {
        std::set<std::uint64_t> between = chunks;
        for (std::size_t back = calls.size(); back-- > 0;) {
          between.insert(calls[back].begin(), calls[back].end());
          if (!calls[back].contains(chunk)) continue;
          std::set<std::uint64_t> since{chunk};
          for (std::size_t later = back + 1; later < calls.size(); ++later)
            since.insert(calls[later].begin(), calls[later].end());
          least = std::max<std::uint64_t>(least, since.size());
          break;
        }
      }
      EXPECT_GE(reuse.touch(box), least);
      calls.push_back(std::move(chunks));
    }
  }
}

}  // namespace
}  // namespace headrace::engine
