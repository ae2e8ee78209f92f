#include "engine/merge.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>

namespace headrace::engine {
namespace {

Box box(std::initializer_list<std::uint64_t> start, std::initializer_list<std::uint64_t> count) {
  Box result;
  std::ranges::copy(start, result.start.begin());
  std::ranges::copy(count, result.count.begin());
  return result;
}

TEST(Merge, PiecesOfAGridBecomeOne) {
  std::vector<Box> boxes;
  for (std::uint64_t i = 0; i < 4; ++i)
    for (std::uint64_t j = 0; j < 5; ++j)
      for (std::uint64_t k = 0; k < 3; ++k) boxes.push_back(box({10 + 2 * i, 7 * j, k}, {2, 7, 1}));
  std::ranges::shuffle(boxes, std::mt19937(1));
  const MergedBoxes merged = merge(3, boxes);
  ASSERT_EQ(merged.boxes.size(), 1U);
  EXPECT_EQ(merged.boxes[0].box.start, box({10, 0, 0}, {}).start);
  EXPECT_EQ(merged.boxes[0].box.count, box({}, {8, 35, 3}).count);
  EXPECT_EQ(merged.boxes[0].parts.size(), 60U);
  EXPECT_TRUE(std::ranges::is_sorted(merged.boxes[0].parts));
  EXPECT_FALSE(merged.overlap);
}

TEST(Merge, WhatLiesWithinBecomesAPart) {
  const std::vector boxes{box({3, 3}, {1, 1}), box({0, 0}, {5, 5}), box({9, 9}, {1, 1})};
  const MergedBoxes merged = merge(2, boxes);
  ASSERT_EQ(merged.boxes.size(), 2U);
  EXPECT_EQ(merged.boxes[0].parts, (std::vector<std::uint32_t>{0, 1}));
  EXPECT_FALSE(merged.overlap);
}

TEST(Merge, TellsOfOverlap) {
  const std::vector boxes{box({0, 0}, {2, 2}), box({1, 1}, {2, 2})};
  const MergedBoxes merged = merge(2, boxes);
  EXPECT_EQ(merged.boxes.size(), 2U);
  EXPECT_TRUE(merged.overlap);
}

// Every element of a merged box belongs to one of its parts, every part to one box, and elements
// are shared only where it says so.
TEST(Merge, RandomBoxes) {
  std::mt19937 random(7);
  for (int round = 0; round < 2000; ++round) {
    const unsigned rank = 1 + random() % 3;
    std::vector<Box> boxes(1 + random() % 12);
    for (Box& one : boxes)
      for (unsigned d = 0; d < rank; ++d) {
        one.start[d] = random() % 6;
        one.count[d] = 1 + random() % 3;
      }
    const MergedBoxes merged = merge(rank, boxes);
    std::vector<int> seen(boxes.size());
    std::map<Index, int> elements;
    const auto for_each = [&](const Box& one, auto function) {
      for (std::uint64_t i = 0; i < volume(rank, one.count); ++i) {
        Index at{};
        std::uint64_t rest = i;
        for (unsigned d = 0; d < rank; ++d) {
          at[d] = one.start[d] + rest % one.count[d];
          rest /= one.count[d];
        }
        function(at);
      }
    };
    for (const MergedBox& whole : merged.boxes) {
      std::map<Index, int> parts;
      for (const std::uint32_t part : whole.parts) {
        ++seen[part];
        for_each(boxes[part], [&](const Index& at) { parts[at] = 1; });
      }
      EXPECT_EQ(parts.size(), volume(rank, whole.box.count));
      for_each(whole.box, [&](const Index& at) {
        EXPECT_TRUE(parts.contains(at));
        ++elements[at];
      });
    }
    EXPECT_EQ(seen, std::vector<int>(boxes.size(), 1));
    const bool shared = std::ranges::any_of(elements, [](const auto& e) { return e.second > 1; });
    EXPECT_EQ(merged.overlap, shared);
  }
}

}  // namespace
}  // namespace headrace::engine
