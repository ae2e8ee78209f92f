// Workers that are paused leave the program alone, and nothing waits for ever.
#include <gtest/gtest.h>

#include <cstring>
#include <future>

#include "engine/threads/ordered.hpp"
#include "engine/threads/thread_pool.hpp"
#include "support/child.hpp"
#include "unit/staging/staging_model.hpp"

namespace {

using namespace headrace;
using namespace std::chrono_literals;
using test::Bytes;
using test::Child;
using test::Gate;
using test::kMiB;
using test::kPage;
using test::pattern;
using test::Staged;
using test::Store;
using test::wait_for_rest;
using test::wait_until;

constexpr auto kForever = std::chrono::nanoseconds::max();

bool holds(Store& store, std::uint64_t offset, const Bytes& bytes) {
  const std::lock_guard lock(store.mutex);
  return store.bytes.size() >= offset + bytes.size() &&
         std::memcmp(store.bytes.data() + offset, bytes.data(), bytes.size()) == 0;
}

struct Counted final : engine::Job {
  explicit Counted(std::atomic<int>& number) : count(number) {}
  void work() override { ++count; }
  void finish() override {}
  std::atomic<int>& count;
};

class PauseTest : public ::testing::Test {
 protected:
  void SetUp() override { test::limits = {64 * kMiB, 1us}; }  // all data is old
};

TEST_F(PauseTest, NothingBeginsBeforeTheLastResume) {
  std::atomic<int> done{0};
  engine::pause_workers();
  engine::pause_workers();
  for (int i = 0; i < 10; ++i) engine::run_later([&] { ++done; });
  engine::run_after(1us, [&] { ++done; });
  engine::resume_workers();
  wait_for_rest();
  EXPECT_EQ(done, 0);
  engine::resume_workers();
  wait_until("all was done", [&] { return done == 11; });
}

TEST_F(PauseTest, WaitsForWhatHasBegun) {
  std::atomic<bool> begun{false};
  Gate gate(Gate::State::closed);
  std::atomic<bool> ended{false};
  engine::run_later([&] {
    begun = true;
    gate.pass();
    ended = true;
  });
  wait_until("the task had begun", [&] { return begun.load(); });
  auto paused = std::async(std::launch::async, [&] {
    engine::pause_workers();
    return ended.load();
  });
  wait_for_rest();
  EXPECT_EQ(paused.wait_for(0s), std::future_status::timeout);
  gate.open();
  EXPECT_TRUE(paused.get());
  engine::resume_workers();
}

TEST_F(PauseTest, JobsAreFinishedForWhoeverWaits) {
  engine::pause_workers();
  std::atomic<int> done{0};
  {
    engine::Ordered ordered(100);
    for (int i = 0; i < 50; ++i) ordered.give(std::make_unique<Counted>(done));
    wait_for_rest();
    EXPECT_EQ(done, 0);
    ordered.finish();
    EXPECT_EQ(done, 50);
    ordered.give(std::make_unique<Counted>(done));
    wait_for_rest();
    EXPECT_EQ(done, 50) << "the pause goes on";
  }
  engine::resume_workers();
}

TEST_F(PauseTest, StagedBytesStayAndDrain) {
  Store store;
  Staged file(store);
  engine::pause_workers();
  const Bytes bytes = pattern(3 * kMiB, 1);
  file.write(100, bytes);
  wait_for_rest();
  EXPECT_EQ(store.begun, 0);
  const engine::StagingProgress progress = file.staged.progress();
  EXPECT_EQ(progress.accepted, bytes.size());
  EXPECT_EQ(progress.staged, bytes.size());
  EXPECT_GE(engine::staging_memory(), bytes.size());
  EXPECT_EQ(file.read(100, bytes.size()), bytes);
  file.staged.drain();
  EXPECT_TRUE(holds(store, 100, bytes));
  EXPECT_EQ(file.staged.progress().staged, 0U);
  EXPECT_EQ(file.staged.progress().accepted, bytes.size());
  engine::resume_workers();
}

TEST_F(PauseTest, ResumeWritesWhatHasWaited) {
  Store store;
  Staged file(store);
  engine::pause_workers();
  file.write(0, pattern(2 * kMiB, 2));
  file.write(5 * kMiB, pattern(10, 3));
  engine::resume_workers();
  wait_until("all was written", [&] { return file.staged.progress().staged == 0; });
  EXPECT_TRUE(holds(store, 0, pattern(2 * kMiB, 2)));
  EXPECT_TRUE(holds(store, 5 * kMiB, pattern(10, 3)));
}

TEST_F(PauseTest, WritesBeyondTheBudgetGoOn) {
  constexpr std::uint64_t kBudget = 2 * kMiB;
  test::limits = {kBudget, 0s};
  Store store;
  store.delay = 50us;
  Staged file(store);
  engine::pause_workers();
  for (unsigned i = 0; i < 300; ++i) {
    file.write(i * kPage, pattern(i % 3 == 0 ? 100 : kPage, i));
    EXPECT_LE(engine::staging_memory(), kBudget);
  }
  file.staged.drain();
  for (unsigned i = 0; i < 300; ++i)
    EXPECT_TRUE(holds(store, i * kPage, pattern(i % 3 == 0 ? 100 : kPage, i))) << i;
  engine::resume_workers();
}

TEST_F(PauseTest, LentBytesAreWaitedFor) {
  Store store;
  Staged file(store);
  engine::pause_workers();
  const Bytes bytes = pattern(40 * kPage, 4);
  std::shared_ptr<engine::Completion> completion;
  {
    const engine::Lending lending(bytes);
    file.write(0, bytes);
    completion = lending.completion();
  }
  ASSERT_NE(completion, nullptr);
  EXPECT_FALSE(completion->wait(0ns));
  wait_for_rest();
  EXPECT_EQ(store.begun, 0) << "to ask is not to wait";
  EXPECT_TRUE(completion->wait(test::kPatience)) << "a limited wait gets there, too";
  EXPECT_TRUE(holds(store, 0, bytes));
  {
    const engine::Lending lending(bytes);
    file.write(50 * kPage, bytes);
    completion = lending.completion();
  }
  EXPECT_TRUE(completion->wait(kForever));
  EXPECT_TRUE(holds(store, 50 * kPage, bytes));
  engine::resume_workers();
}

#ifndef __SANITIZE_THREAD__  // a child under tsan cannot start threads
TEST_F(PauseTest, AForkLosesNothingAndTheChildIsPaused) {
  Store store;
  Staged file(store);
  engine::pause_workers();
  const Bytes bytes = pattern(2 * kMiB, 5);
  file.write(0, bytes);
  std::atomic<int> done{0};
  engine::Ordered ordered(100);
  for (int i = 0; i < 5; ++i) ordered.give(std::make_unique<Counted>(done));
  const Child child([&] {
    file.write(3 * kMiB, bytes);
    wait_for_rest();
    const bool quiet = file.staged.progress().staged == bytes.size() && done == 5;
    file.staged.drain();
    engine::resume_workers();
    ordered.give(std::make_unique<Counted>(done));
    return quiet && wait_until("a worker had worked", [&] { return done == 6; }) &&
           holds(store, 3 * kMiB, bytes);
  });
  EXPECT_TRUE(child.ends_well());
  EXPECT_TRUE(holds(store, 0, bytes));
  ordered.finish();
  EXPECT_EQ(done, 5);
  engine::resume_workers();
}
#endif

}  // namespace
