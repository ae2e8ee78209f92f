// Which operations are hit.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <vector>

#include "base/error.hpp"
#include "layers/fault/driver/plan.hpp"
#include "layers/fault/settings.hpp"

namespace headrace::fault {
namespace {

constexpr Operation kWrite{Op::write, "/data/run-1.h5", 0, Data::raw, 0, 100};

// The numbers that are hit of `total` operations.
std::vector<std::uint64_t> hits(Options options, const Operation& operation = kWrite,
                                int total = 10) {
  options.emplace("kind", "error");
  Plan plan(options);
  std::vector<std::uint64_t> numbers;
  for (int i = 0; i < total; ++i)
    if (const auto number = plan.hit(operation)) numbers.push_back(*number);
  return numbers;
}

using Numbers = std::vector<std::uint64_t>;

TEST(FaultPlan, HitsTheFirstUnlessTold) { EXPECT_EQ(hits({}), Numbers{1}); }

TEST(FaultPlan, HitsFromFirstOn) {
  EXPECT_EQ(hits({{"first", "4"}}), Numbers{4});
  EXPECT_EQ(hits({{"first", "4"}, {"count", "3"}}), (Numbers{4, 5, 6}));
  EXPECT_EQ(hits({{"first", "8"}, {"count", "0"}}), (Numbers{8, 9, 10}));
}

TEST(FaultPlan, ChanceIsTheSeeds) {
  const auto some = [](const char* seed) {
    return hits({{"probability", "250000"}, {"count", "0"}, {"seed", seed}}, kWrite, 4000);
  };
  EXPECT_EQ(some("1"), some("1"));
  EXPECT_NE(some("1"), some("2"));
  EXPECT_NEAR(static_cast<double>(some("3").size()), 1000, 120);
  EXPECT_EQ(hits({{"probability", "1000000"}, {"count", "0"}}).size(), 10U);
  EXPECT_EQ(hits({{"probability", "250000"}, {"count", "2"}}, kWrite, 4000).size(), 2U);
}

TEST(FaultPlan, MatchesOperations) {
  Operation flush{Op::flush, "/f"};
  EXPECT_EQ(hits({{"op", "flush"}}, flush), Numbers{1});
  EXPECT_EQ(hits({{"op", "flush"}}), Numbers{});
  EXPECT_EQ(hits({{"op", "any"}}, flush), Numbers{1});
  EXPECT_EQ(hits({{"kind", "none"}}), Numbers{});
  EXPECT_EQ(hits({{"kind", "short"}, {"op", "any"}}, flush), Numbers{});
}

TEST(FaultPlan, MatchesData) {
  Operation metadata = kWrite;
  metadata.data = Data::metadata;
  EXPECT_EQ(hits({{"type", "raw"}}), Numbers{1});
  EXPECT_EQ(hits({{"type", "raw"}}, metadata), Numbers{});
  EXPECT_EQ(hits({{"type", "metadata"}}, metadata), Numbers{1});
  EXPECT_EQ(hits({{"type", "raw"}, {"op", "any"}}, {Op::flush, "/f"}), Numbers{});
}

TEST(FaultPlan, MatchesNames) {
  for (const char* pattern : {"run-1.h5", "run-*", "*.h5", "/data/*", "/*/run-[0-9].h5"})
    EXPECT_EQ(hits({{"file", pattern}}), Numbers{1}) << pattern;
  for (const char* pattern : {"run", "data", "run-2.h5", "/data", "*/other.h5"})
    EXPECT_EQ(hits({{"file", pattern}}), Numbers{}) << pattern;
}

TEST(FaultPlan, MatchesRanks) {
  Operation other = kWrite;
  other.rank = 3;
  EXPECT_EQ(hits({{"rank", "3"}}, other), Numbers{1});
  EXPECT_EQ(hits({{"rank", "3"}}), Numbers{});
  other.rank = kEveryRank;
  EXPECT_EQ(hits({{"rank", "3"}}, other), Numbers{1});
}

TEST(FaultPlan, PartsOfATransfer) {
  const auto part = [](const char* percent, std::uint64_t length) {
    return Plan(Options{{"part", percent}}).part_of({Op::write, "/f", 0, Data::raw, 0, length});
  };
  EXPECT_EQ(part("50", 1001), 500U);
  EXPECT_EQ(part("0", 1001), 0U);
  EXPECT_EQ(part("99", 1000), 990U);
  EXPECT_LT(part("99", UINT64_MAX), UINT64_MAX);
  const std::array<std::uint64_t, 3> pieces{40, 20, 40};
  EXPECT_EQ(Plan(Options()).part_of({Op::write, "/f", 0, Data::raw, 0, 100, pieces}), 40U);
}

TEST(FaultPlan, ReadsWhatItIsTold) {
  const Plan plan(
      Options{{"errno", "EDQUOT"}, {"delay", "3us"}, {"sync", "flush"}, {"then", "error"}});
  EXPECT_EQ(plan.error_number, EDQUOT);
  EXPECT_EQ(plan.delay, std::chrono::microseconds(3));
  EXPECT_TRUE(plan.sync_at_flush);
  EXPECT_FALSE(plan.sync_at_close);
  EXPECT_FALSE(plan.exits);
  EXPECT_EQ(Plan(Options{{"delay", "2s"}}).delay, std::chrono::seconds(2));
  EXPECT_EQ(Plan(Options{{"delay", "2ms"}}).delay, std::chrono::milliseconds(2));
  EXPECT_EQ(Plan(Options{{"delay", "2ns"}}).delay, std::chrono::nanoseconds(2));
}

// Every name that the setting admits has a number of its own.
TEST(FaultPlan, KnowsTheErrors) {
  const auto* const row = std::ranges::find(kSettings, "errno", &Setting::option);
  std::string names(row->choices);
  std::vector<int> numbers;
  for (std::size_t begin = 0; begin < names.size();) {
    const std::size_t end = std::min(names.find('|', begin), names.size());
    numbers.push_back(Plan(Options{{"errno", names.substr(begin, end - begin)}}).error_number);
    begin = end + 1;
  }
  std::ranges::sort(numbers);
  EXPECT_EQ(numbers.size(), 19U);
  EXPECT_GT(numbers.front(), 0);
  EXPECT_EQ(std::ranges::adjacent_find(numbers), numbers.end());
}

TEST(FaultPlan, RefusesNonsense) {
  const std::vector<Options> nonsense{{{"kind", "some"}},
                                      {{"first", "0"}},
                                      {{"first", "99999999999999999999"}},
                                      {{"probability", "1000001"}},
                                      {{"part", "100"}},
                                      {{"rank", "-2"}},
                                      {{"rank", "two"}},
                                      {{"rank", ""}},
                                      {{"op", "flush"}, {"kind", "short"}},
                                      {{"op", "close"}, {"type", "raw"}}};
  for (const Options& options : nonsense)
    EXPECT_THROW(Plan{options}, Error) << options.begin()->first << options.begin()->second;
}

}  // namespace
}  // namespace headrace::fault
