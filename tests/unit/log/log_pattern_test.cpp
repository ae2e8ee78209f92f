#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>

#include "base/error.hpp"
#include "engine/log/pattern.hpp"
#include "support/rounds.hpp"

namespace headrace::engine {
namespace {

using Places = std::vector<std::uint64_t>;

// The elements in the order of their data.
Places places(const std::vector<Run>& runs) {
  Places result;
  for (const Run& run : runs)
    for (std::uint64_t i = 0; i < run.count; ++i) result.push_back(run.first + i);
  return result;
}

// By position, for the part within [begin, end).
std::map<std::uint64_t, std::uint64_t> part(const Pattern& pattern, std::uint64_t begin,
                                            std::uint64_t end) {
  std::map<std::uint64_t, std::uint64_t> result;
  pattern.within(begin, end, [&](const Run& run, std::uint64_t position) {
    for (std::uint64_t i = 0; i < run.count; ++i)
      EXPECT_TRUE(result.emplace(position + i, run.first + i).second);
  });
  return result;
}

PatternColumns encoded(const Pattern& pattern, std::uint64_t unit = 1) {
  PatternColumns columns;
  pattern.encode(unit, columns);
  return columns;
}

std::size_t size_of(const PatternColumns& columns) {
  return columns.head.size() + columns.gap.size() + columns.count.size() + columns.times.size();
}

Pattern decode(const PatternColumns& columns, std::uint64_t unit, std::uint64_t most) {
  std::string_view head = columns.head;
  std::string_view gap = columns.gap;
  std::string_view count = columns.count;
  std::string_view times = columns.times;
  Pattern result = Pattern::decode({head, gap, count, times}, unit, most);
  EXPECT_EQ(head.size() + gap.size() + count.size() + times.size(), 0);
  return result;
}

Pattern again(const Pattern& pattern) { return decode(encoded(pattern), 1, pattern.elements()); }

void expect_same(const std::vector<Run>& runs, const Pattern& pattern, std::mt19937& random) {
  Places expected = places(runs);
  const std::uint64_t first = *std::ranges::min_element(expected);
  const std::uint64_t extent = *std::ranges::max_element(expected) - first + 1;
  for (std::uint64_t& place : expected) place -= first;
  ASSERT_EQ(pattern.elements(), expected.size());
  EXPECT_EQ(pattern.extent(), extent);
  for (int i = 0; i < 4; ++i) {
    const std::uint64_t begin = i == 0 ? 0 : random() % (extent + 2);
    const std::uint64_t end = i == 0 ? extent : begin + random() % (extent + 2);
    std::map<std::uint64_t, std::uint64_t> wanted;
    for (std::uint64_t at = 0; at < expected.size(); ++at)
      if (expected[at] >= begin && expected[at] < end) wanted[at] = expected[at];
    EXPECT_EQ(part(pattern, begin, end), wanted);
    std::uint64_t next = ~std::uint64_t{0};
    for (const std::uint64_t place : expected)
      if (place >= begin) next = std::min(next, place);
    EXPECT_EQ(pattern.next(begin), next);
  }
}

// A box of an array, as HDF5 lists it.
std::vector<Run> box(const Places& dims, const Places& start, const Places& count,
                     const Places& step) {
  std::vector<Run> runs;
  Places at(dims.size());
  for (bool more = true; more;) {
    std::uint64_t place = 0;
    for (std::size_t d = 0; d < dims.size(); ++d)
      place = place * dims[d] + start[d] + at[d] * step[d];
    if (!runs.empty() && runs.back().first + runs.back().count == place)
      ++runs.back().count;
    else
      runs.push_back({place, 1});
    more = false;
    for (std::size_t d = dims.size(); d-- > 0 && !more;) {
      more = ++at[d] < count[d];
      if (!more) at[d] = 0;
    }
  }
  return runs;
}

Places strides(const Places& dims) {
  Places result(dims.size() - 1);
  std::uint64_t stride = 1;
  for (std::size_t d = result.size(); d-- > 0;) result[d] = stride *= dims[d + 1];
  return result;
}

TEST(Pattern, RandomBoxes) {
  std::mt19937 random(3);
  for (unsigned round = 0; round < test::rounds(3000); ++round) {
    Places dims(1 + random() % 4);
    Places start, count, step;
    for (std::uint64_t& dim : dims) {
      dim = 1 + random() % 7;
      step.push_back(1 + random() % 3);
      start.push_back(random() % dim);
      count.push_back(1 + random() % ((dim - start.back() + step.back() - 1) / step.back()));
    }
    const std::vector<engine::Run> runs = box(dims, start, count, step);
    const Pattern pattern(runs, strides(dims));
    expect_same(runs, pattern, random);
    expect_same(runs, again(pattern), random);
  }
}

TEST(Pattern, RandomRunsInAnyOrder) {
  std::mt19937 random(4);
  for (unsigned round = 0; round < test::rounds(3000); ++round) {
    std::vector<engine::Run> runs(1 + random() % 9);
    std::uint64_t at = random() % 5;
    for (auto& run : runs) {
      run = {at, 1 + random() % 6};
      at += run.count + random() % 3;
    }
    if (round % 2 == 0) std::ranges::shuffle(runs, random);
    if (round % 6 == 0) runs.push_back(runs[random() % runs.size()]);
    const Places row{1 + random() % 8};
    const Pattern pattern(runs, random() % 2 == 0 ? std::span<const std::uint64_t>() : row);
    expect_same(runs, pattern, random);
    expect_same(runs, again(pattern), random);
  }
}

TEST(Pattern, ABoxTakesFewBytes) {
  const Places dims{50, 400, 300, 200};
  const Pattern pattern(box(dims, {3, 9, 5, 7}, {2, 40, 30, 20}, {7, 2, 3, 1}), strides(dims));
  EXPECT_EQ(pattern.elements(), 2U * 40 * 30 * 20);
  EXPECT_LE(size_of(encoded(pattern)), 24U);
}

// What a climate model's rank writes of a field with levels: the same columns in each.
TEST(Pattern, LevelsCostNextToNothing) {
  std::mt19937 random(5);
  const Places dims{72, 866};
  std::set<std::uint64_t> columns{0, 865};  // the runs of one level touch those of the next
  while (columns.size() < 100) columns.insert(random() % 866);
  std::vector<engine::Run> level, all;
  for (const std::uint64_t column : columns) level.push_back({column, 1});
  for (std::uint64_t l = 0; l < 72; ++l)
    for (const auto& run : level) {
      const engine::Run moved{l * 866 + run.first, run.count};
      if (!all.empty() && all.back().first + all.back().count == moved.first)
        all.back().count += moved.count;
      else
        all.push_back(moved);
    }
  const Pattern pattern(all, strides(dims));
  expect_same(all, pattern, random);
  EXPECT_LE(size_of(encoded(pattern)), size_of(encoded(Pattern(level, {}))) + 4);
}

TEST(Pattern, RowsAreToldAsTheirColumnsAre) {
  std::mt19937 random(6);
  for (unsigned round = 0; round < test::rounds(1000); ++round) {
    std::vector<engine::Run> runs(1 + random() % 9);
    std::uint64_t at = 0;
    for (auto& run : runs) {
      run = {at, 1 + random() % 6};
      at += run.count + random() % 3;
    }
    if (round % 2 == 0) std::ranges::shuffle(runs, random);
    std::vector<engine::Run> rows;
    rows.reserve(runs.size());
    for (const auto& run : runs) rows.push_back({run.first * 7, run.count * 7});
    const Pattern pattern(rows, {});
    ASSERT_TRUE(pattern.is_multiple_of(7));
    const PatternColumns columns = encoded(pattern, 7);
    EXPECT_EQ(size_of(columns), size_of(encoded(Pattern(runs, {}))));
    expect_same(rows, decode(columns, 7, pattern.elements()), random);
    expect_same(runs, decode(columns, 1, pattern.elements()), random);
  }
  EXPECT_FALSE(Pattern({{0, 14}, {21, 8}}, {}).is_multiple_of(7));
  EXPECT_FALSE(Pattern({{0, 7}, {20, 7}}, {}).is_multiple_of(7));
  EXPECT_FALSE(Pattern({{0, 7}, {15, 7}, {30, 7}, {45, 7}}, Places{15}).is_multiple_of(7));
  EXPECT_FALSE(Pattern({{0, 7}, {~std::uint64_t{0} / 7 * 7 - 7, 7}}, {}).is_multiple_of(7));
}

TEST(Pattern, EncodedBytesThatAreNone) {
  const auto refused = [](const PatternColumns& columns, std::uint64_t unit, std::uint64_t most) {
    std::string_view head = columns.head;
    std::string_view gap = columns.gap;
    std::string_view count = columns.count;
    std::string_view times = columns.times;
    EXPECT_THROW(Pattern::decode({head, gap, count, times}, unit, most), Error);
  };
  const PatternColumns good = encoded(Pattern({{0, 2}, {5, 2}}, {}));
  for (const auto column : {&PatternColumns::head, &PatternColumns::gap, &PatternColumns::count,
                            &PatternColumns::times})
    for (std::size_t size = 0; size < (good.*column).size(); ++size) {
      PatternColumns cut = good;
      (cut.*column).resize(size);
      refused(cut, 1, 4);
    }
  refused(good, 1, 3);
  refused(good, 2, 7);
  refused(good, std::uint64_t{1} << 62U, ~std::uint64_t{0});
  const std::string huge(9, '\xff');
  const std::string zero(1, '\0');
  refused({std::string("\x01") + huge + "\x01\x01\x01", zero, "\x02", "\x01"}, 1, ~0ULL);
  refused({zero + "\x01", zero, huge + "\x01", "\x01"}, 1, 1000);
}

}  // namespace
}  // namespace headrace::engine
