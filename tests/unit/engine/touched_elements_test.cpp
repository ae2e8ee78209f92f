// Touched elements against sets of elements that are listed one by one.
#include "engine/touched_elements.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>
#include <vector>

#include "base/error.hpp"

namespace headrace::engine {
namespace {

using Elements = std::set<std::vector<std::uint64_t>>;

SteppedBox box_of(std::vector<std::uint64_t> start, std::vector<std::uint64_t> count,
                  std::vector<std::uint64_t> step = {}) {
  SteppedBox made;
  for (std::size_t d = 0; d < start.size(); ++d) {
    made.box.start.at(d) = start[d];
    made.box.count.at(d) = count[d];
    if (!step.empty()) made.step.at(d) = step[d];
  }
  return made;
}

void list(unsigned rank, const SteppedBox& box, Elements& to) {
  std::vector<std::uint64_t> at(rank);
  const auto descend = [&](const auto& self, unsigned d) -> void {
    if (d == rank) {
      to.insert(at);
      return;
    }
    for (std::uint64_t i = 0; i < box.box.count.at(d); ++i) {
      at[d] = box.box.start.at(d) + i * box.step.at(d);
      self(self, d + 1);
    }
  };
  descend(descend, 0);
}

bool meet(const Elements& one, const Elements& other) {
  return std::ranges::any_of(one, [&](const auto& each) { return other.contains(each); });
}

TEST(TouchedElements, FindsWhatBothHave) {
  TouchedElements even(1, 10);
  even.add(box_of({0}, {50}, {2}));
  TouchedElements odd(1, 10);
  odd.add(box_of({1}, {50}, {2}));
  EXPECT_FALSE(even.common(odd));
  odd.add(box_of({30}, {1}));
  const auto both = even.common(odd);
  ASSERT_TRUE(both);
  EXPECT_EQ(both->start[0], 30U);
  EXPECT_EQ(both->count[0], 1U);
}

TEST(TouchedElements, KnowsOnlyBoundsOfTooMany) {
  TouchedElements many(1, 2);
  for (const std::uint64_t first : {0, 10, 20}) many.add(box_of({first}, {1}));
  EXPECT_FALSE(many.exact());
  TouchedElements between(1, 2);
  between.add(box_of({5}, {1}));
  EXPECT_TRUE(many.common(between));
  TouchedElements outside(1, 2);
  outside.add(box_of({21}, {1}));
  EXPECT_FALSE(many.common(outside));
}

TEST(TouchedElements, JoinsWhatFollows) {
  TouchedElements rows(2, 1);
  for (std::uint64_t row = 0; row < 100; ++row) rows.add(box_of({row, 3}, {1, 5}));
  EXPECT_TRUE(rows.exact());
  EXPECT_EQ(rows.bounds().count[0], 100U);
}

TEST(TouchedElements, LargeNumbersDoNotOverflow) {
  constexpr std::uint64_t kFar = ~std::uint64_t{0} - 10;
  TouchedElements one(1, 1);
  one.add(box_of({3}, {2}, {kFar - 3}));
  TouchedElements other(1, 1);
  other.add(box_of({kFar}, {1}));
  const auto both = one.common(other);
  ASSERT_TRUE(both.has_value());
  EXPECT_EQ(both.value_or(Box{}).start[0], kFar);
}

TEST(TouchedElements, AgreesWithLists) {
  std::mt19937 random(7);  // NOLINT(cert-msc32-c,cert-msc51-cpp): the same cases each time
  const auto upto = [&](std::uint64_t most) { return random() % most + 1; };
  unsigned met = 0;
  for (unsigned round = 0; round < 3000; ++round) {
    const auto rank = static_cast<unsigned>(upto(3));
    std::vector<TouchedElements> sets(2, TouchedElements(rank, 100));
    std::vector<Elements> lists(2);
    for (std::size_t i = 0; i < 2; ++i)
      for (std::uint64_t n = upto(3); n > 0; --n) {
        SteppedBox box;
        for (unsigned d = 0; d < rank; ++d) {
          box.box.start.at(d) = upto(12) - 1;
          box.box.count.at(d) = upto(4);
          box.step.at(d) = upto(5);
        }
        sets[i].add(box);
        list(rank, box, lists[i]);
      }
    std::vector<std::uint64_t> numbers;
    sets[1].encode(numbers);
    std::span<const std::uint64_t> rest(numbers);
    const TouchedElements told = TouchedElements::decode(rest);
    EXPECT_TRUE(rest.empty());
    const bool meets = meet(lists[0], lists[1]);
    met += meets ? 1 : 0;
    EXPECT_EQ(sets[0].common(told).has_value(), meets) << round;
  }
  EXPECT_GT(met, 500U);
  EXPECT_LT(met, 2500U);
}

TEST(TouchedElements, RefusesWhatIsCutOff) {
  TouchedElements some(2, 4);
  some.add(box_of({1, 2}, {3, 4}));
  std::vector<std::uint64_t> numbers;
  some.encode(numbers);
  for (std::size_t size = 0; size < numbers.size(); ++size) {
    std::span<const std::uint64_t> rest(numbers.data(), size);
    EXPECT_THROW(TouchedElements::decode(rest), Error) << size;
  }
}

}  // namespace
}  // namespace headrace::engine
