#include "engine/threads/ordered.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <deque>
#include <functional>
#include <thread>
#include <vector>

#include "base/error.hpp"
#include "engine/threads/thread_pool.hpp"
#include "support/child.hpp"
#include "support/waiting.hpp"

namespace headrace::engine {
namespace {

using test::Child;
using test::Gate;
using test::wait_until;

// Notes that it is finished.
struct Numbered final : Job {
  using Task = std::function<void()>;
  Numbered(int number, std::vector<int>& finished, Task task)
      : number_(number), finished_(finished), task_(std::move(task)) {}
  void work() override { task_(); }
  void finish() override { finished_.push_back(number_); }
  int number_;
  std::vector<int>& finished_;
  Task task_;
};

void give(Ordered& ordered, int number, std::vector<int>& finished, Numbered::Task task = [] {}) {
  ordered.give(std::make_unique<Numbered>(number, finished, std::move(task)));
}

TEST(Ordered, finishes_in_the_order_given) {
  std::vector<int> finished;
  Ordered ordered(5);
  for (int i = 0; i < 200; ++i) give(ordered, i, finished);
  ordered.finish();
  ASSERT_EQ(finished.size(), 200U);
  for (int i = 0; i < 200; ++i) EXPECT_EQ(finished[static_cast<std::size_t>(i)], i);
}

TEST(Ordered, finishes_in_the_order_given_though_the_last_is_done_first) {
  const WantedThreads five(5);
  for (int round = 0; round < 40; ++round) {
    std::vector<int> finished;
    std::vector<int> worked;
    std::deque<Gate> ended;  // one for each job, which waits for the next
    for (int i = 0; i < 5; ++i) ended.emplace_back(Gate::State::closed);
    Ordered ordered(5);
    for (std::size_t i = 0; i < 5; ++i)
      give(ordered, static_cast<int>(i), finished, [&, i] {
        if (i < 4) ended[i + 1].pass();
        worked.push_back(static_cast<int>(i));
        ended[i].open();
      });
    ordered.finish();
    EXPECT_EQ(worked, (std::vector{4, 3, 2, 1, 0}));
    EXPECT_EQ(finished, (std::vector{0, 1, 2, 3, 4}));
  }
}

TEST(Ordered, throws_what_a_job_threw) {
  std::vector<int> finished;
  const auto run = [&] {
    Ordered ordered(5);
    for (int i = 0; i < 100; ++i)
      give(ordered, i, finished, [i] {
        if (i == 50) throw Error("bad");
      });
    ordered.finish();
  };
  EXPECT_THROW(run(), Error);
  EXPECT_EQ(finished.size(), 50U);
}

TEST(Ordered, waits_for_the_others_when_a_job_threw) {
  const WantedThreads five(5);
  std::vector<int> finished;
  Gate gate(Gate::State::closed);
  std::atomic<int> begun = 0;
  std::atomic<int> ended = 0;
  std::jthread opener;
  {
    Ordered ordered(5);
    give(ordered, 0, finished, [] { throw Error("bad"); });
    for (int i = 1; i < 5; ++i)
      give(ordered, i, finished, [&] {
        ++begun;
        gate.pass();
        ++ended;
      });
    wait_until("all were at work", [&] { return begun == 4; });
    EXPECT_THROW(ordered.finish(), Error);
    EXPECT_EQ(ended, 0);
    opener = std::jthread([&] {
      test::wait_for_rest();
      gate.open();
    });
  }
  EXPECT_EQ(ended, 4);
  EXPECT_TRUE(finished.empty());
}

TEST(Ordered, finishes_what_is_done_and_waits_for_nothing) {
  std::vector<int> finished;
  Gate gate(Gate::State::closed);
  Ordered ordered(9);
  give(ordered, 0, finished);
  wait_until("the first was finished", [&] {
    ordered.finish_done();
    return !finished.empty();
  });
  give(ordered, 1, finished, [&] { gate.pass(); });
  give(ordered, 2, finished);
  ordered.finish_done();
  EXPECT_EQ(finished.size(), 1U);
  gate.open();
  ordered.finish();
  EXPECT_EQ(finished.size(), 3U);
  EXPECT_TRUE(ordered.empty());
}

TEST(Ordered, has_no_job_at_work_in_a_forked_child) {
#ifdef __SANITIZE_THREAD__
  GTEST_SKIP() << "a child under tsan cannot start threads";
#endif
  std::vector<int> finished;
  Gate gate(Gate::State::closed);
  Ordered ordered(100);
  for (int i = 0; i < 50; ++i) give(ordered, i, finished, [&] { gate.pass(); });
  test::wait_for_rest();  // some are at work
  gate.open();
  const Child child([&] {
    ordered.finish();
    Ordered own(3);
    for (int i = 50; i < 60; ++i) give(own, i, finished);
    own.finish();
    return finished.size() == 60;
  });
  EXPECT_TRUE(child.ends_well());
  ordered.finish();
  EXPECT_EQ(finished.size(), 50U);
}

// Another thread forks while jobs are given: those that the fork did not wait for are done anew.
TEST(Ordered, survives_forks_of_other_threads) {
  std::atomic<bool> end = false;
  std::atomic<int> forks = 0;
  std::vector<int> finished;
  Ordered ordered(1000);
  std::thread forking([&] {
    while (!end) {
      const Child child([] { return true; });
      EXPECT_TRUE(child.ends_well());
      ++forks;
    }
  });
  for (int i = 0; i < 300; ++i) {
    give(ordered, i, finished);
    const int seen = forks;
    if (i % 30 == 0) wait_until("another fork was made", [&] { return forks > seen; });
  }
  ordered.finish();
  end = true;
  forking.join();
  EXPECT_EQ(finished.size(), 300U);
}

}  // namespace
}  // namespace headrace::engine
