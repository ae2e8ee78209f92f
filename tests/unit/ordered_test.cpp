#include "engine/ordered.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "base/error.hpp"
#include "engine/thread_pool.hpp"

namespace headrace::engine {
namespace {

struct Numbered final : Job {
  Numbered(int number, std::vector<int>& finished, int bad)
      : number_(number), finished_(finished), bad_(bad) {}
  void work() override {
    std::this_thread::sleep_for(std::chrono::microseconds(number_ * 7919 % 500));
    if (number_ == bad_) throw Error("bad");
  }
  void finish() override { finished_.push_back(number_); }
  int number_;
  std::vector<int>& finished_;
  int bad_;
};

// Works until it is let go.
struct Held final : Job {
  explicit Held(std::atomic<bool>& go) : go_(go) {}
  void work() override {
    while (!go_) std::this_thread::yield();
  }
  void finish() override {}
  std::atomic<bool>& go_;
};

TEST(Ordered, finishes_in_the_order_given) {
  std::vector<int> finished;
  Ordered ordered(5);
  for (int i = 0; i < 200; ++i) ordered.give(std::make_unique<Numbered>(i, finished, -1));
  ordered.finish();
  ASSERT_EQ(finished.size(), 200U);
  for (int i = 0; i < 200; ++i) EXPECT_EQ(finished[static_cast<std::size_t>(i)], i);
}

TEST(Ordered, throws_what_a_job_threw_and_waits_for_the_others) {
  std::vector<int> finished;
  const auto run = [&] {
    Ordered ordered(5);
    for (int i = 0; i < 100; ++i) ordered.give(std::make_unique<Numbered>(i, finished, 50));
    ordered.finish();
  };
  EXPECT_THROW(run(), Error);
  EXPECT_EQ(finished.size(), 50U);
}

TEST(Ordered, finishes_what_is_done_and_waits_for_nothing) {
  std::vector<int> finished;
  std::atomic<bool> go = false;
  Ordered ordered(9);
  ordered.give(std::make_unique<Numbered>(0, finished, -1));
  while (finished.empty()) ordered.finish_done();
  ordered.give(std::make_unique<Held>(go));
  ordered.give(std::make_unique<Numbered>(1, finished, -1));
  ordered.finish_done();
  EXPECT_EQ(finished.size(), 1U);
  go = true;
  ordered.finish();
  EXPECT_EQ(finished.size(), 2U);
  EXPECT_TRUE(ordered.empty());
}

TEST(Ordered, has_no_job_at_work_in_a_forked_child) {
#ifdef __SANITIZE_THREAD__
  GTEST_SKIP() << "a child under tsan cannot start threads";
#endif
  std::vector<int> finished;
  Ordered ordered(100);
  for (int i = 0; i < 50; ++i) ordered.give(std::make_unique<Numbered>(i, finished, -1));
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(20);
    ordered.finish();
    Ordered own(3);
    for (int i = 50; i < 60; ++i) own.give(std::make_unique<Numbered>(i, finished, -1));
    own.finish();
    ::_exit(finished.size() == 60 ? 0 : 1);
  }
  int status = -1;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  ordered.finish();
  EXPECT_EQ(finished.size(), 50U);
}

// Another thread forks while jobs are given: those that the fork did not wait for are done anew.
TEST(Ordered, survives_forks_of_other_threads) {
  std::atomic<bool> end = false;
  std::vector<int> finished;
  Ordered ordered(1000);
  std::vector<int> failed;
  std::thread forking([&] {
    while (!end) {
      const pid_t child = ::fork();
      if (child == 0) ::_exit(0);
      int status = -1;
      ::waitpid(child, &status, 0);
      if (status != 0) failed.push_back(status);
    }
  });
  for (int i = 0; i < 300; ++i) ordered.give(std::make_unique<Numbered>(i, finished, -1));
  ordered.finish();
  end = true;
  forking.join();
  EXPECT_EQ(finished.size(), 300U);
  EXPECT_TRUE(failed.empty());
}

}  // namespace
}  // namespace headrace::engine
