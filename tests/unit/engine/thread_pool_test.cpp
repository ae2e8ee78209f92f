// How many workers work at a time, as open files ask for.
#include "engine/threads/thread_pool.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <optional>

#include "support/waiting.hpp"

namespace {

using namespace headrace;
using engine::WantedThreads;

// The most tasks that ran side by side, of many that do not end before no more begin.
int side_by_side() {
  constexpr int kTasks = 24;
  test::Gate gate(test::Gate::State::closed);
  std::atomic<int> at_work{0};
  std::atomic<int> most{0};
  std::atomic<int> done{0};
  for (int i = 0; i < kTasks; ++i)
    engine::run_later([&] {
      const int now = ++at_work;
      for (int seen = most; seen < now && !most.compare_exchange_weak(seen, now);) {
      }
      gate.pass();
      --at_work;
      ++done;
    });
  test::wait_for_rest();
  gate.open();
  test::wait_until("all were done", [&] { return done == kTasks; });
  return most;
}

TEST(WantedThreads, AsManyWorkAtATime) {
  const WantedThreads three(3);
  EXPECT_EQ(engine::workers(), 3U);
  EXPECT_EQ(side_by_side(), 3);
}

TEST(WantedThreads, TheLargestHoldsWhileItIsThere) {
  const WantedThreads one(1);
  EXPECT_EQ(side_by_side(), 1);
  std::optional<WantedThreads> four(4);
  const WantedThreads two(2);
  EXPECT_EQ(side_by_side(), 4);
  four.reset();
  EXPECT_EQ(side_by_side(), 2) << "although four threads have been started";
}

TEST(WantedThreads, TheLastOneStays) {
  {
    const WantedThreads five(5);
  }
  EXPECT_EQ(engine::workers(), 5U);
  const WantedThreads all(0);
  EXPECT_EQ(engine::workers(), engine::available_cores());
}

}  // namespace
