// Workers that are paused leave the program alone, and nothing waits for ever.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <future>
#include <thread>

#include "engine/ordered.hpp"
#include "engine/thread_pool.hpp"
#include "unit/staging_store.hpp"

namespace {

using namespace headrace;
using namespace std::chrono_literals;
using test::Bytes;
using test::kMiB;
using test::kPage;
using test::Staged;
using test::Store;

constexpr auto kForever = std::chrono::nanoseconds::max();
constexpr auto kAWhile = 30ms;  // in which a worker that may begin something has begun it

Bytes filled(std::size_t size, unsigned seed) {
  Bytes bytes(size);
  for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::byte>(i * 7 + seed + i / 251);
  return bytes;
}

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
  void SetUp() override { test::limits = {64 * kMiB, 20ms}; }
};

TEST_F(PauseTest, NothingBeginsBeforeTheLastResume) {
  std::atomic<int> done{0};
  engine::pause_workers();
  engine::pause_workers();
  for (int i = 0; i < 10; ++i) engine::run_later([&] { ++done; });
  engine::run_after(1ms, [&] { ++done; });
  engine::resume_workers();
  std::this_thread::sleep_for(kAWhile);
  EXPECT_EQ(done, 0);
  engine::resume_workers();
  while (done < 11) std::this_thread::yield();
}

TEST_F(PauseTest, WaitsForWhatHasBegun) {
  std::atomic<bool> begun{false};
  std::atomic<bool> go{false};
  std::atomic<bool> ended{false};
  engine::run_later([&] {
    begun = true;
    while (!go) std::this_thread::yield();
    std::this_thread::sleep_for(5ms);
    ended = true;
  });
  while (!begun) std::this_thread::yield();
  auto paused = std::async(std::launch::async, [&] {
    engine::pause_workers();
    return ended.load();
  });
  EXPECT_EQ(paused.wait_for(kAWhile), std::future_status::timeout);
  go = true;
  EXPECT_TRUE(paused.get());
  engine::resume_workers();
}

TEST_F(PauseTest, JobsAreFinishedForWhoeverWaits) {
  engine::pause_workers();
  std::atomic<int> done{0};
  {
    engine::Ordered ordered(100);
    for (int i = 0; i < 50; ++i) ordered.give(std::make_unique<Counted>(done));
    std::this_thread::sleep_for(kAWhile);
    EXPECT_EQ(done, 0);
    ordered.finish();
    EXPECT_EQ(done, 50);
    ordered.give(std::make_unique<Counted>(done));
    std::this_thread::sleep_for(kAWhile);
    EXPECT_EQ(done, 50) << "the pause goes on";
  }
  engine::resume_workers();
}

TEST_F(PauseTest, StagedBytesStayAndDrain) {
  Store store;
  Staged file(store);
  engine::pause_workers();
  const Bytes bytes = filled(3 * kMiB, 1);
  file.write(100, bytes);
  std::this_thread::sleep_for(kAWhile);  // older than the interval
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
  file.write(0, filled(2 * kMiB, 2));
  file.write(5 * kMiB, filled(10, 3));
  engine::resume_workers();
  while (file.staged.progress().staged > 0) std::this_thread::sleep_for(1ms);
  EXPECT_TRUE(holds(store, 0, filled(2 * kMiB, 2)));
  EXPECT_TRUE(holds(store, 5 * kMiB, filled(10, 3)));
}

TEST_F(PauseTest, WritesBeyondTheBudgetGoOn) {
  constexpr std::uint64_t kBudget = 2 * kMiB;
  test::limits = {kBudget, 0s};
  Store store;
  store.delay = 50us;
  Staged file(store);
  engine::pause_workers();
  for (unsigned i = 0; i < 300; ++i) {
    file.write(i * kPage, filled(i % 3 == 0 ? 100 : kPage, i));
    EXPECT_LE(engine::staging_memory(), kBudget);
  }
  file.staged.drain();
  for (unsigned i = 0; i < 300; ++i)
    EXPECT_TRUE(holds(store, i * kPage, filled(i % 3 == 0 ? 100 : kPage, i))) << i;
  engine::resume_workers();
}

TEST_F(PauseTest, LentBytesAreWaitedFor) {
  Store store;
  Staged file(store);
  engine::pause_workers();
  const Bytes bytes = filled(40 * kPage, 4);
  std::shared_ptr<engine::Completion> completion;
  {
    const engine::Lending lending(bytes);
    file.write(0, bytes);
    completion = lending.completion();
  }
  ASSERT_NE(completion, nullptr);
  EXPECT_FALSE(completion->wait(0ns));
  std::this_thread::sleep_for(kAWhile);
  EXPECT_EQ(store.begun, 0) << "to ask is not to wait";
  EXPECT_TRUE(completion->wait(10s)) << "a limited wait gets there, too";
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
  const Bytes bytes = filled(2 * kMiB, 5);
  file.write(0, bytes);
  std::atomic<int> done{0};
  engine::Ordered ordered(100);
  for (int i = 0; i < 5; ++i) ordered.give(std::make_unique<Counted>(done));
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(60);  // the watchdog is not here
    file.write(3 * kMiB, bytes);
    std::this_thread::sleep_for(kAWhile);
    const bool quiet = file.staged.progress().staged == bytes.size() && done == 5;
    file.staged.drain();
    engine::resume_workers();
    ordered.give(std::make_unique<Counted>(done));
    while (done < 6) std::this_thread::yield();
    ::_exit(quiet && holds(store, 3 * kMiB, bytes) ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_TRUE(holds(store, 0, bytes));
  ordered.finish();
  EXPECT_EQ(done, 5);
  engine::resume_workers();
}
#endif

}  // namespace
