// Boxes against loops over single elements.
#include "engine/box.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <set>
#include <vector>

#include "engine/joined_boxes.hpp"

namespace headrace::engine {
namespace {

using Random = std::mt19937;

std::uint64_t between(Random& random, std::uint64_t low, std::uint64_t high) {
  return std::uniform_int_distribution<std::uint64_t>(low, high)(random);
}

// Calls for each position of a box, in row-major order.
template <typename Function>
void for_each(unsigned rank, const Index& count, const Function& function) {
  if (volume(rank, count) == 0) return;
  Index at{};
  while (true) {
    function(at);
    unsigned d = rank;
    while (d > 0 && ++at[d - 1] == count[d - 1]) at[--d] = 0;
    if (d == 0) return;
  }
}

struct Array {
  Index dims{};
  Index strides{};
  std::vector<std::byte> bytes;

  // Dense or not: with gaps between rows where `gaps`.
  Array(Random& random, unsigned rank, const Index& at_least, std::size_t element, bool gaps) {
    for (unsigned d = 0; d < rank; ++d) dims[d] = at_least[d] + (gaps ? between(random, 0, 2) : 0);
    strides = strides_of(rank, dims, element);
    bytes.resize(volume(rank, dims) * element);
    for (auto& byte : bytes) byte = std::byte(between(random, 0, 255));
  }
};

TEST(Box, copies_as_a_loop_over_elements_does) {
  Random random(7);
  for (int round = 0; round < 2000; ++round) {
    const auto rank = static_cast<unsigned>(between(random, 0, 5));
    const std::size_t element = between(random, 1, 17);
    Index count{};
    for (unsigned d = 0; d < rank; ++d) count[d] = between(random, round % 50 == 0 ? 0 : 1, 5);
    const Array from(random, rank, count, element, round % 3 != 0);
    Array to(random, rank, count, element, round % 2 != 0);
    auto expected = to.bytes;
    for_each(rank, count, [&](const Index& at) {
      std::memcpy(expected.data() + offset_of(rank, at, to.strides),
                  from.bytes.data() + offset_of(rank, at, from.strides), element);
    });
    copy_box(rank, count, element, from.bytes.data(), from.strides, to.bytes.data(), to.strides);
    ASSERT_EQ(to.bytes, expected) << "round " << round;
  }
}

TEST(Box, copies_to_strides_of_zero_where_the_count_is_one) {
  const std::vector<std::byte> from{std::byte{1}, std::byte{2}, std::byte{3}};
  std::vector<std::byte> to(3);
  copy_box(3, {1, 3, 1}, 1, from.data(), {0, 1, 0}, to.data(), {99, 1, 0});
  EXPECT_EQ(to, from);
}

TEST(Box, fills_all_with_an_element) {
  Random random(9);
  for (std::size_t size : {1, 2, 3, 8, 13}) {
    std::vector<std::byte> element(size);
    for (auto& byte : element) byte = std::byte(between(random, 0, 255));
    for (std::size_t elements : {0, 1, 2, 7, 100}) {
      std::vector<std::byte> to(elements * size, std::byte{0xee});
      fill_all(element, to);
      for (std::size_t i = 0; i < to.size(); ++i) ASSERT_EQ(to[i], element[i % size]);
    }
  }
}

// Every element of the box is in one piece, every piece in one chunk, chunks in order.
TEST(Box, pieces_cover_a_box_once_and_in_order) {
  Random random(11);
  for (int round = 0; round < 1000; ++round) {
    Grid grid{static_cast<unsigned>(between(random, 1, 4)), {}, {}};
    Box box;
    for (unsigned d = 0; d < grid.rank; ++d) {
      grid.dims[d] = between(random, 1, 9);
      grid.chunk[d] = between(random, 1, 11);
      box.start[d] = between(random, 0, grid.dims[d] - 1);
      box.count[d] = between(random, 1, grid.dims[d] - box.start[d]);
    }
    std::set<Index> seen;
    std::uint64_t previous = 0;
    bool all_cover = true;
    Pieces pieces(grid, box);
    for (Piece piece; pieces.next(piece);) {
      ASSERT_TRUE(seen.empty() || piece.chunk > previous);
      previous = piece.chunk;
      all_cover = all_cover && piece.covers;
      std::uint64_t place = 0;
      bool whole = true;
      bool covers = true;
      for (unsigned d = 0; d < grid.rank; ++d) {
        const std::uint64_t chunks = (grid.dims[d] + grid.chunk[d] - 1) / grid.chunk[d];
        place = place * chunks + piece.origin[d] / grid.chunk[d];
        ASSERT_EQ(piece.origin[d] % grid.chunk[d], 0U);
        ASSERT_GE(piece.box.start[d], piece.origin[d]);
        ASSERT_LE(piece.box.start[d] + piece.box.count[d], piece.origin[d] + grid.chunk[d]);
        whole = whole && piece.box.count[d] == grid.chunk[d];
        covers =
            covers && piece.box.count[d] == std::min(grid.chunk[d], grid.dims[d] - piece.origin[d]);
      }
      ASSERT_EQ(piece.chunk, place);
      ASSERT_EQ(piece.whole, whole);
      ASSERT_EQ(piece.covers, covers);
      for_each(grid.rank, piece.box.count, [&](Index at) {
        for (unsigned d = 0; d < grid.rank; ++d) at[d] += piece.box.start[d];
        ASSERT_TRUE(seen.insert(at).second);
      });
    }
    ASSERT_EQ(seen.size(), volume(grid.rank, box.count));
    ASSERT_EQ(grid.aligned(box), all_cover);
    for (const Index& at : seen)
      for (unsigned d = 0; d < grid.rank; ++d)
        ASSERT_TRUE(at[d] >= box.start[d] && at[d] < box.start[d] + box.count[d]);
  }
}

// Every so many elements of a box: each is in one piece, those of one chunk in the same.
TEST(Box, pieces_of_steps_have_each_element_once) {
  Random random(12);
  for (int round = 0; round < 1000; ++round) {
    Grid grid{static_cast<unsigned>(between(random, 1, 3)), {}, {}};
    Box box;
    Index step = kEach;
    for (unsigned d = 0; d < grid.rank; ++d) {
      grid.dims[d] = between(random, 1, 12);
      grid.chunk[d] = between(random, 1, 7);
      step[d] = between(random, 1, 5);
      box.start[d] = between(random, 0, grid.dims[d] - 1);
      box.count[d] = between(random, 1, (grid.dims[d] - 1 - box.start[d]) / step[d] + 1);
    }
    std::set<Index> seen;
    std::set<std::uint64_t> chunks;
    Pieces pieces(grid, box, step);
    for (Piece piece; pieces.next(piece);) {
      ASSERT_TRUE(chunks.empty() || piece.chunk > *chunks.rbegin());
      chunks.insert(piece.chunk);
      std::uint64_t within = 1;
      for (unsigned d = 0; d < grid.rank; ++d)
        within *= std::min(grid.chunk[d], grid.dims[d] - piece.origin[d]);
      ASSERT_EQ(piece.covers, volume(grid.rank, piece.box.count) == within);
      for_each(grid.rank, piece.box.count, [&](Index at) {
        for (unsigned d = 0; d < grid.rank; ++d) {
          at[d] = piece.box.start[d] + at[d] * step[d];
          ASSERT_EQ(at[d] / grid.chunk[d] * grid.chunk[d], piece.origin[d]);
          ASSERT_EQ((at[d] - box.start[d]) % step[d], 0U);
          ASSERT_LT((at[d] - box.start[d]) / step[d], box.count[d]);
        }
        ASSERT_TRUE(seen.insert(at).second);
      });
    }
    ASSERT_EQ(seen.size(), volume(grid.rank, box.count));
  }
}

// Rows are added without a change of the places that are there.
TEST(Box, places_do_not_depend_on_the_first_dimension) {
  const Box box{{3, 2}, {1, 1}};
  const Grid small{2, {4, 9}, {2, 2}};
  const Grid large{2, {4000, 9}, {2, 2}};
  Piece one;
  Piece two;
  Pieces(small, box).next(one);
  Pieces(large, box).next(two);
  EXPECT_EQ(one.chunk, two.chunk);
}

TEST(Box, counts_chunks_or_says_that_it_cannot) {
  constexpr std::uint64_t kHuge = ~std::uint64_t{0} - 1;
  EXPECT_TRUE((Grid{1, {kHuge}, {1024}}.countable()));
  EXPECT_FALSE((Grid{2, {kHuge, kHuge}, {1024, 1024}}.countable()));
  EXPECT_EQ(volume(2, {kHuge, 2}), ~std::uint64_t{0});
  EXPECT_EQ(volume(3, {kHuge, kHuge, 0}), 0U);
}

// Some chunks of a grid, in their order.
std::vector<Box> some_chunks(Random& random, const Grid& grid, bool all) {
  std::vector<Box> chunks;
  Box whole;
  whole.count = grid.dims;
  Pieces pieces(grid, whole);
  for (Piece piece; pieces.next(piece);)
    if (all || random() % 4 != 0) chunks.push_back(piece.box);
  return chunks;
}

std::vector<Box> joined(const Grid& grid, std::uint64_t most, const std::vector<Box>& boxes) {
  std::vector<Box> result;
  const auto keep = [&](const Box& box) { result.push_back(box); };
  JoinedBoxes all(grid.rank, most, keep);
  for (const Box& box : boxes) all.add(box);
  all.finish();
  return result;
}

// How often the boxes hold each element.
std::vector<int> held(const Grid& grid, const std::vector<Box>& boxes) {
  std::vector<int> result(volume(grid.rank, grid.dims));
  const Index strides = strides_of(grid.rank, grid.dims, 1);
  for (const Box& box : boxes)
    for_each(grid.rank, box.count, [&](const Index& at) {
      ++result[offset_of(grid.rank, box.start, strides) + offset_of(grid.rank, at, strides)];
    });
  return result;
}

TEST(JoinedBoxes, HoldWhatWasAdded) {
  Random random(5);
  for (int round = 0; round < 500; ++round) {
    Grid grid;
    grid.rank = static_cast<unsigned>(between(random, 1, 4));
    for (unsigned d = 0; d < grid.rank; ++d) {
      grid.dims[d] = between(random, 1, 9);
      grid.chunk[d] = between(random, 1, 3);
    }
    const auto chunks = some_chunks(random, grid, round % 3 == 0);
    const std::uint64_t most = between(random, 1, 200);
    const auto boxes = joined(grid, most, chunks);
    EXPECT_EQ(held(grid, boxes), held(grid, chunks));
    EXPECT_LE(boxes.size(), chunks.size());
    for (const Box& box : boxes)
      EXPECT_LE(volume(grid.rank, box.count), std::max(most, volume(grid.rank, grid.chunk)));
  }
}

TEST(JoinedBoxes, AllChunksAreOneBox) {
  Random random(6);
  const Grid grid{3, {7, 5, 9}, {2, 2, 4}};
  const auto boxes = joined(grid, volume(3, grid.dims), some_chunks(random, grid, true));
  ASSERT_EQ(boxes.size(), 1);
  EXPECT_EQ(boxes.front().count, grid.dims);
  EXPECT_EQ(joined(grid, 90, some_chunks(random, grid, true)).size(), 4);
}

}  // namespace
}  // namespace headrace::engine
