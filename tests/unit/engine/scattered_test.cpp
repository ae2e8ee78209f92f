// Selections that are cut at the borders of chunks, against loops over single elements.
#include "engine/scattered.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <vector>

namespace headrace::engine {
namespace {

using Random = std::mt19937;

std::uint64_t between(Random& random, std::uint64_t low, std::uint64_t high) {
  return std::uniform_int_distribution<std::uint64_t>(low, high)(random);
}

Grid some_grid(Random& random) {
  Grid grid;
  grid.rank = static_cast<unsigned>(between(random, 1, 4));
  for (unsigned d = 0; d < grid.rank; ++d) {
    grid.dims[d] = between(random, 1, 9);
    grid.chunk[d] = between(random, 0, 2) == 0 ? grid.dims[d] : between(random, 1, 11);
  }
  return grid;
}

// As many elements as there are in `all` at most, in runs; those of files may go back and repeat.
std::vector<engine::Run> some_runs(Random& random, std::uint64_t all, std::uint64_t elements) {
  std::vector<engine::Run> runs;
  while (elements > 0) {
    const std::uint64_t count = between(random, 1, std::min<std::uint64_t>(elements, 7));
    if (count > all) continue;
    runs.push_back({between(random, 0, all - count), count});
    elements -= count;
  }
  return runs;
}

// Runs that do not overlap, with gaps.
std::vector<engine::Run> some_memory(Random& random, std::uint64_t elements) {
  std::vector<engine::Run> runs;
  for (std::uint64_t at = 0; elements > 0;) {
    const std::uint64_t count = between(random, 1, std::min<std::uint64_t>(elements, 9));
    at += between(random, 0, 2);
    runs.push_back({at, count});
    at += count;
    elements -= count;
  }
  std::ranges::shuffle(runs, random);
  return runs;
}

std::vector<std::uint64_t> elements(std::span<const Run> runs) {
  std::vector<std::uint64_t> all;
  for (const Run& run : runs)
    for (std::uint64_t i = 0; i < run.count; ++i) all.push_back(run.first + i);
  return all;
}

// The chunk of an element of the array, and its place there.
std::pair<std::uint64_t, std::uint64_t> place_of(const Grid& grid, std::uint64_t element) {
  Index at{};
  for (unsigned d = grid.rank; d-- > 0; element /= grid.dims[d]) at[d] = element % grid.dims[d];
  std::uint64_t chunk = 0;
  std::uint64_t inside = 0;
  for (unsigned d = 0; d < grid.rank; ++d) {
    chunk = chunk * ((grid.dims[d] + grid.chunk[d] - 1) / grid.chunk[d]) + at[d] / grid.chunk[d];
    inside = inside * grid.chunk[d] + at[d] % grid.chunk[d];
  }
  return {chunk, inside};
}

TEST(Scattered, EachElementIsWhereItBelongs) {
  Random random(1);
  for (int round = 0; round < 2000; ++round) {
    const Grid grid = some_grid(random);
    const std::uint64_t all = volume(grid.rank, grid.dims);
    const std::uint64_t count = between(random, 1, 60);
    const auto file = some_runs(random, all, count);
    const auto memory = some_memory(random, count);
    const auto fragments = fragments_of(grid, file, memory, 1000);
    ASSERT_TRUE(fragments);
    EXPECT_TRUE(std::ranges::is_sorted(*fragments, {}, &Fragment::chunk));
    std::map<std::uint64_t, std::vector<std::pair<std::uint64_t, std::uint64_t>>> expected;
    const auto from = elements(file);
    const auto to = elements(memory);
    for (std::size_t i = 0; i < from.size(); ++i) {
      const auto [chunk, inside] = place_of(grid, from[i]);
      expected[chunk].emplace_back(inside, to[i]);
    }
    decltype(expected) found;
    for (const Fragment& one : *fragments)
      for (std::uint64_t i = 0; i < one.count; ++i)
        found[one.chunk].emplace_back(one.in_chunk + i, one.in_memory + i);
    EXPECT_EQ(found, expected);  // of one chunk in the order of the selection
  }
}

TEST(Scattered, TooManyAreNone) {
  const Grid grid{1, {100}, {10}};
  const std::vector<engine::Run> file{{0, 1}, {2, 1}, {4, 1}};
  const std::vector<engine::Run> memory{{0, 3}};
  EXPECT_TRUE(fragments_of(grid, file, memory, 3));
  EXPECT_FALSE(fragments_of(grid, file, memory, 2));
}

TEST(Scattered, RowsOfWholeChunksAreOneFragment) {
  const Grid grid{4, {100, 8, 8, 3}, {1, 8, 8, 3}};
  const std::vector<engine::Run> file{{960, 192}, {1344, 192}};
  const std::vector<engine::Run> memory{{0, 384}};
  const auto fragments = fragments_of(grid, file, memory, 2);
  ASSERT_TRUE(fragments);
  EXPECT_EQ(fragments->size(), 2);
}

TEST(Scattered, OriginsAreThoseOfPieces) {
  Random random(2);
  for (int round = 0; round < 200; ++round) {
    const Grid grid = some_grid(random);
    const Box box{{}, grid.dims};
    Pieces pieces(grid, box);
    for (Piece piece; pieces.next(piece);) EXPECT_EQ(origin_of(grid, piece.chunk), piece.origin);
  }
}

TEST(Scattered, GatherAndScatter) {
  const std::vector<Fragment> fragments{{0, 1, 3, 2}, {0, 5, 0, 1}};
  const std::vector<short> chunk{0, 1, 2, 3, 4, 5};
  std::vector<short> memory(5, -1);
  const auto bytes = [](auto& of) { return std::as_writable_bytes(std::span(of)).data(); };
  gather(fragments, sizeof(short), std::as_bytes(std::span(chunk)).data(), bytes(memory));
  EXPECT_EQ(memory, (std::vector<short>{5, -1, -1, 1, 2}));
  std::vector<short> back(6, -1);
  scatter(fragments, sizeof(short), bytes(memory), bytes(back));
  EXPECT_EQ(back, (std::vector<short>{-1, 1, 2, -1, -1, 5}));
}

}  // namespace
}  // namespace headrace::engine
