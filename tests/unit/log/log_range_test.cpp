#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>
#include <set>
#include <vector>

#include "engine/log/range.hpp"
#include "support/rounds.hpp"

namespace headrace::engine::log {
namespace {

using Runs = std::vector<engine::Run>;

constexpr std::uint64_t kRow = 40;
constexpr std::array<std::uint64_t, 1> kStrides{kRow};

std::vector<std::uint64_t> elements(const Runs& runs) {
  std::vector<std::uint64_t> result;
  for (const auto& run : runs)
    for (std::uint64_t i = 0; i < run.count; ++i) result.push_back(run.first + i);
  return result;
}

bool are_apart(const Runs& one, const Runs& other) {
  const auto listed = elements(other);
  const std::set<std::uint64_t> there(listed.begin(), listed.end());
  return std::ranges::none_of(elements(one), [&](auto each) { return there.contains(each); });
}

// Some columns; `from` and `to` bound them.
Runs columns(std::uint64_t from, std::uint64_t to, std::mt19937& random) {
  Runs runs;
  for (std::uint64_t at = from + random() % 4; at < to && runs.size() < 4;) {
    runs.push_back({at, std::min<std::uint64_t>(1 + random() % 3, to - at)});
    at += runs.back().count + 1 + random() % 12;
  }
  if (runs.empty()) runs.push_back({from, 1});
  return runs;
}

// The same in some rows, as HDF5 lists it.
Runs in_rows(const Runs& row, std::uint64_t first, std::uint64_t count) {
  Runs runs;
  for (std::uint64_t r = first; r < first + count; ++r)
    for (const auto& run : row) {
      const std::uint64_t at = r * kRow + run.first;
      if (!runs.empty() && runs.back().first + runs.back().count == at)
        runs.back().count += run.count;
      else
        runs.push_back({at, run.count});
    }
  return runs;
}

Pattern pattern_of(const Runs& runs) { return {runs, kStrides}; }

bool is(const Runs& range, const Runs& written) {
  return Range(range).is(pattern_of(written), written.front().first);
}

bool misses(const Runs& range, const Runs& written) {
  return Range(range).misses(pattern_of(written), written.front().first);
}

// Clear of the ends of rows nothing is overlooked; elsewhere nothing is said that is not so.
TEST(Range, ColumnsOfRows) {
  std::mt19937 random(31);
  std::array<int, 3> found{};
  for (unsigned round = 0; round < test::rounds(20000); ++round) {
    const bool clear = round % 2 == 0;
    const auto draw = [&] {
      const Runs row = columns(clear ? 1 : 0, clear ? kRow - 1 : kRow, random);
      return in_rows(row, random() % 3, clear ? 2 + random() % 3 : 1 + random() % 4);
    };
    const Runs range = draw();
    const Runs written = random() % 4 == 0 ? range : draw();
    const bool same = elements(range) == elements(written);
    const bool apart = are_apart(range, written);
    EXPECT_TRUE(same || !is(range, written));
    EXPECT_TRUE(apart || !misses(range, written));
    if (!clear) continue;
    EXPECT_EQ(is(range, written), same);
    const auto columns_of = [](const Runs& runs) {
      Runs result;
      for (const auto& run : runs) result.push_back({run.first % kRow, run.count});
      return result;
    };
    EXPECT_EQ(misses(range, written), are_apart(columns_of(range), columns_of(written)));
    ++found.at(same ? 0 : apart ? 1 : 2);
  }
  EXPECT_GT(*std::ranges::min_element(found), 100);
}

// Patterns that were made for rows of another length.
TEST(Range, RunsThatGoOnInTheNextRow) {
  const Pattern pattern({{0, 10}, {kRow, 10}}, kStrides);
  const Runs range = in_rows({{2, 2}}, 0, 3);
  EXPECT_FALSE(Range(range).misses(pattern, kRow - 5));
  EXPECT_TRUE(Range(range).misses(pattern, kRow - 10));
}

TEST(Range, OneListOfRuns) {
  const Runs runs{{3, 2}, {9, 1}};
  const Pattern same({{0, 2}, {6, 1}}, {});
  EXPECT_EQ(Range(runs).elements(), 3);
  EXPECT_EQ(Range(runs).before(1), 2);
  EXPECT_TRUE(Range(runs).is(same, 3));
  EXPECT_FALSE(Range(runs).is(same, 4));
  EXPECT_FALSE(Range(runs).is(Pattern({{0, 1}, {5, 2}}, {}), 3));
  EXPECT_FALSE(Range(runs).is(Pattern({{6, 1}, {0, 2}}, {}), 3)) << "in another order";
  const Runs three{{3, 2}, {9, 1}, {12, 2}};
  EXPECT_FALSE(Range(three).is(Pattern({{0, 1}, {6, 2}, {9, 2}}, {}), 3));
  EXPECT_FALSE(Range(runs).misses(same, 3));
}

}  // namespace
}  // namespace headrace::engine::log
