// Staged files against a model of what a file holds.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <mutex>
#include <numeric>
#include <random>
#include <set>
#include <thread>

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

#ifdef __SANITIZE_THREAD__
#define SKIP_UNDER_TSAN GTEST_SKIP() << "a child under tsan cannot start threads"
constexpr unsigned kRounds = 3;  // it is slow
#else
#define SKIP_UNDER_TSAN static_cast<void>(0)
constexpr unsigned kRounds = 12;
#endif

// Bytes that depend on the seed; quick, for the sanitizers.
Bytes pattern(std::size_t size, unsigned seed) {
  static const Bytes noise = [] {
    Bytes bytes(3 * kMiB);
    std::mt19937 random(1);
    for (auto& byte : bytes) byte = static_cast<std::byte>(random() >> 8U);
    return bytes;
  }();
  Bytes bytes(size);
  std::memcpy(bytes.data(), noise.data() + seed * 7919ULL % kMiB, size);
  return bytes;
}

struct Plain {  // the model
  Bytes bytes;
  void write(std::uint64_t offset, const Bytes& data) {
    if (bytes.size() < offset + data.size()) bytes.resize(offset + data.size());
    std::memcpy(bytes.data() + offset, data.data(), data.size());
  }
  [[nodiscard]] Bytes read(std::uint64_t offset, std::size_t size) const {
    Bytes result(size);
    if (offset < bytes.size())
      std::memcpy(result.data(), bytes.data() + offset,
                  std::min<std::size_t>(size, bytes.size() - offset));
    return result;
  }
};

class Staging : public testing::Test {
 protected:
  void SetUp() override { test::limits = {64 * kMiB, 0s}; }
};

TEST(Dirty, AgreesWithASetOfBytes) {
  std::mt19937 random(7);
  for (int round = 0; round < static_cast<int>(kRounds); ++round) {
    std::array<std::uint64_t, engine::staging::kBitmapWords> bits;
    bits.fill(0xa5a5a5a5a5a5a5a5U);
    engine::staging::Dirty dirty(bits.data());
    std::vector<bool> model(kPage);
    const std::uint32_t span = round % 3 == 0 ? kPage : 300;
    for (int step = 0; step < 60; ++step) {
      const auto begin = static_cast<std::uint32_t>(random() % span);
      const auto end =
          std::min<std::uint32_t>(begin + 1 + random() % (1U << (random() % 17)), kPage);
      if (random() % 12 == 0) {
        dirty.cut(begin);
        std::fill(model.begin() + begin, model.end(), false);
      } else {
        const auto known = std::count(model.begin() + begin, model.begin() + end, true);
        ASSERT_EQ(dirty.add(begin, end), known);
        std::fill(model.begin() + begin, model.begin() + end, true);
      }
      std::vector<bool> found(kPage);
      std::uint32_t ranges = 0;
      std::uint32_t last = 0;
      dirty.for_each([&](std::uint32_t low, std::uint32_t high) {
        ASSERT_LT(low, high);
        ASSERT_TRUE(ranges == 0 || low > last);
        last = high;
        ++ranges;
        std::fill(found.begin() + low, found.begin() + high, true);
      });
      ASSERT_EQ(found, model);
      ASSERT_EQ(dirty.ranges(kPage), ranges);
      ASSERT_EQ(dirty.bytes(), std::count(model.begin(), model.end(), true));
      ASSERT_EQ(dirty.covers(begin, end),
                std::count(model.begin() + begin, model.begin() + end, true) == end - begin);
    }
  }
}

TEST_F(Staging, ReadsSeeWhatIsStaged) {
  Store store;
  store.bytes = pattern(3 * kPage, 1);
  store.stopped = true;
  Staged file(store);
  Plain model{store.bytes};
  for (const auto& [offset, size] : {std::pair{100U, 8U}, {70000U, 5U}, {65530U, 20U}, {0U, 1U}}) {
    file.write(offset, pattern(size, size));
    model.write(offset, pattern(size, size));
  }
  EXPECT_EQ(file.read(0, 4 * kPage), model.read(0, 4 * kPage));
  const int before = store.reads;
  EXPECT_EQ(file.read(101, 7), model.read(101, 7));
  EXPECT_EQ(store.reads, before) << "wholly staged: the file need not be read";
  EXPECT_EQ(store.bytes, pattern(3 * kPage, 1));
  store.stopped = false;
  file.staged.drain();
  EXPECT_EQ(store.bytes, model.bytes);
}

TEST_F(Staging, ReadsSeeWhatIsBeingWritten) {
  Store store;
  store.bytes = pattern(40 * kPage, 1);
  store.stopped = true;
  Staged file(store);
  Plain model{store.bytes};
  const auto write = [&](std::uint64_t offset, const Bytes& bytes) {
    file.write(offset, bytes);
    model.write(offset, bytes);
  };
  write(3, pattern(40 * kPage, 2));
  while (store.begun == 0) std::this_thread::sleep_for(1ms);
  EXPECT_EQ(file.read(0, 41 * kPage), model.read(0, 41 * kPage));
  for (std::uint64_t page = 0; page < 40; page += 3)
    write(page * kPage + 50, pattern(page == 6 ? kPage : 9, page));
  EXPECT_EQ(file.read(0, 41 * kPage), model.read(0, 41 * kPage));
  EXPECT_EQ(file.read(kPage + 4, 50), model.read(kPage + 4, 50));
  Bytes seen(41 * kPage);
  const engine::StagedView view(file.staged, 0, seen.size());
  store.read(0, seen);  // before any of it is written
  store.stopped = false;
  file.staged.drain();
  view.apply(seen);  // a version that was written meanwhile is not lost
  EXPECT_EQ(seen, model.read(0, 41 * kPage));
  EXPECT_EQ(store.bytes, model.bytes);
}

// Adjacent pages go to the device in few writes, rewritten bytes once.
TEST_F(Staging, MergesAndAbsorbs) {
  Store store;
  store.stopped = true;
  Staged file(store);
  for (std::uint64_t i = 0; i < 4 * kPage / 8; ++i) file.write(i * 8, pattern(8, i % 250));
  for (std::uint64_t i = 0; i < 100; ++i) file.write(kPage * 4 + 8, pattern(8, 9));
  store.stopped = false;
  file.staged.drain();
  const engine::StagingStatistics statistics = file.staged.statistics();
  EXPECT_EQ(statistics.absorbed, 99 * 8U);
  EXPECT_LE(store.writes, 5);
  EXPECT_EQ(statistics.device_writes, static_cast<std::uint64_t>(store.writes));
  EXPECT_EQ(statistics.device_bytes, 4 * kPage + 8);
  EXPECT_EQ(store.bytes.size(), kPage * 4 + 16);
}

// A page with many holes is read, filled and written once; its holes keep what the file has there.
TEST_F(Staging, FillsGapsFromTheFile) {
  Store store;
  store.bytes = pattern(kPage, 3);
  Staged file(store);
  Plain model{store.bytes};
  for (std::uint64_t i = 0; i < 1000; ++i) {
    file.write(i * 32, pattern(8, i));
    model.write(i * 32, pattern(8, i));
  }
  file.staged.drain();
  EXPECT_EQ(store.writes, 1);
  EXPECT_EQ(store.bytes, model.bytes);
}

void random_program(unsigned seed, std::uint64_t budget, std::chrono::microseconds delay) {
  test::limits = {budget, seed % 2 == 0 ? 2ms : 0ms};
  std::mt19937 random(seed);
  Store store;
  store.bytes = pattern(random() % (3 * kPage), seed);
  store.delay = delay;
  Plain model{store.bytes};
  Staged file(store);
  const std::uint64_t span = (1 + random() % 40) * kPage;
  for (int step = 0; step < 300; ++step) {
    const std::uint64_t offset = random() % span;
    const std::size_t size = 1 + random() % (1U << (random() % 21));
    switch (random() % 12) {
      case 0:
        file.staged.drain();
        ASSERT_EQ(store.bytes, model.bytes) << "seed " << seed << " step " << step;
        break;
      case 1:
        file.resize(offset);
        model.bytes.resize(offset);
        break;
      case 2:
      case 3:
      case 4:
        ASSERT_EQ(file.read(offset, size), model.read(offset, size))
            << "seed " << seed << " step " << step;
        break;
      default:
        const Bytes data = pattern(size, random());
        file.write(offset, data);
        model.write(offset, data);
    }
    ASSERT_EQ(file.staged.end(), model.bytes.size());
  }
  file.staged.drain();
  EXPECT_EQ(store.bytes, model.bytes) << "seed " << seed;
  EXPECT_FALSE(store.overlapped) << "two writes of the same bytes at a time";
}

TEST_F(Staging, RandomPrograms) {
  for (unsigned seed = 0; seed < kRounds; ++seed) random_program(seed, 64 * kMiB, 0us);
}
TEST_F(Staging, RandomProgramsOnASlowDevice) {
  for (unsigned seed = 100; seed < 100 + kRounds; ++seed) random_program(seed, 64 * kMiB, 300us);
}
TEST_F(Staging, RandomProgramsInLittleMemory) {
  for (unsigned seed = 200; seed < 200 + kRounds; ++seed) random_program(seed, kMiB, 100us);
}

// Several files, each used by its own thread, share the memory.
TEST_F(Staging, FilesInThreads) {
  std::vector<std::thread> threads;
  for (unsigned seed = 300; seed < 304; ++seed)
    threads.emplace_back([seed] { random_program(seed, 2 * kMiB, 50us); });
  for (auto& thread : threads) thread.join();
}

// Another version of a page is staged while the older one is being written, again and again.
TEST_F(Staging, RewritesKeepTheirOrder) {
  Store store;
  store.delay = 200us;
  Staged file(store);
  Plain model;
  for (unsigned i = 0; i < 300; ++i) {
    const Bytes data = pattern(20 * kPage, i);
    file.write(i % 3 * 1000ULL, data);
    model.write(i % 3 * 1000ULL, data);
    if (i % 7 == 0) {
      ASSERT_EQ(file.read(0, kPage), model.read(0, kPage));
    }
  }
  file.staged.drain();
  EXPECT_EQ(store.bytes, model.bytes);
  EXPECT_FALSE(store.overlapped);
}

TEST_F(Staging, OldDataIsWrittenUnasked) {
  test::limits = {64 * kMiB, 10ms};
  Store store;
  Staged file(store);
  file.write(5, pattern(8, 1));
  for (int i = 0; i < 500 && store.writes == 0; ++i) std::this_thread::sleep_for(10ms);
  EXPECT_EQ(store.writes, 1);
  EXPECT_EQ(file.staged.staged_bytes(), 0U);
}

TEST_F(Staging, NothingIsWrittenUnaskedWithoutAnInterval) {
  Store store;
  Staged file(store);
  file.write(5, pattern(8, 1));
  std::this_thread::sleep_for(50ms);
  EXPECT_EQ(store.writes, 0);
}

TEST_F(Staging, AnErrorIsToldOnceAndTheDataTriedAgain) {
  Store store;
  store.fail_from = 0;
  Staged file(store);
  const Bytes data = pattern(10 * kPage, 4);
  file.write(3, data);
  try {
    file.staged.drain();
    FAIL() << "a failed write was not told";
  } catch (const Error& error) {
    EXPECT_EQ(error.error_number(), ENOSPC);
    EXPECT_NE(std::string(error.what()).find("file f at offset"), std::string::npos);
  }
  EXPECT_EQ(file.staged.staged_bytes(), data.size());
  EXPECT_EQ(file.read(3, data.size()), data) << "what failed is still read";
  const int before = store.writes;
  EXPECT_THROW(file.staged.drain(), Error) << "tried again, failed again";
  EXPECT_GT(store.writes, before);
  EXPECT_LT(store.writes, before + 4);
  file.write(kPage, pattern(5, 5));
  store.fail_from = -1;
  file.staged.drain();
  EXPECT_EQ(file.staged.staged_bytes(), 0U);
  Plain model;
  model.write(3, data);
  model.write(kPage, pattern(5, 5));
  EXPECT_EQ(store.bytes, model.bytes);
}

// The error of a write that succeeds when it is tried again is told all the same.
TEST_F(Staging, ABackgroundErrorIsTold) {
  Store store;
  store.fail_from = 0;
  store.fail_count = 1;
  Staged file(store);
  file.write(0, pattern(40 * kPage, 1));
  while (store.writes == 0) std::this_thread::sleep_for(1ms);
  EXPECT_THROW(file.staged.drain(), Error);
  file.staged.drain();
  EXPECT_EQ(store.bytes, pattern(40 * kPage, 1));
}

// A newer version over a failed one: neither is lost.
TEST_F(Staging, RewriteOfAFailedPage) {
  Store store;
  store.stopped = true;
  store.fail_from = 0;
  Staged file(store);
  Plain model;
  const auto write = [&](std::uint64_t offset, const Bytes& bytes) {
    file.write(offset, bytes);
    model.write(offset, bytes);
  };
  write(0, pattern(40 * kPage, 1));
  while (store.begun == 0) std::this_thread::sleep_for(1ms);
  write(100, pattern(8, 2));
  write(kPage + 7, pattern(kPage, 3));
  store.stopped = false;
  EXPECT_THROW(file.staged.drain(), Error);
  EXPECT_EQ(file.read(0, 41 * kPage), model.read(0, 41 * kPage));
  write(104, pattern(8, 4));
  EXPECT_EQ(file.read(0, 41 * kPage), model.read(0, 41 * kPage));
  store.fail_from = -1;
  file.staged.drain();
  EXPECT_EQ(store.bytes, model.bytes);
}

// A full device and a full budget: the program is told by its own writes, nothing hangs.
TEST_F(Staging, FailedPagesDoNotHang) {
  test::limits = {kMiB, 0s};
  Store store;
  store.fail_from = 0;
  {
    Staged file(store);
    bool told = false;
    for (unsigned i = 0; i < 200 && !told; ++i) try {
        file.write(i * kPage, pattern(100, i));
      } catch (const Error&) {
        told = true;
      }
    EXPECT_TRUE(told);
    EXPECT_THROW(file.staged.drain(), Error);
  }
  store.fail_from = -1;
  random_program(400, kMiB, 0us);  // the memory came back
}

TEST_F(Staging, CutForgetsWhatFailed) {
  Store store;
  store.fail_from = 0;
  Staged file(store);
  file.write(0, pattern(4 * kPage, 1));
  EXPECT_THROW(file.staged.drain(), Error);
  file.staged.device().resize(kPage + 10);
  file.staged.set_end(kPage + 10);
  EXPECT_EQ(file.staged.staged_bytes(), kPage + 10);
  store.fail_from = -1;
  file.staged.drain();
  Bytes expected = pattern(4 * kPage, 1);
  expected.resize(kPage + 10);
  EXPECT_EQ(store.bytes, expected);
}

TEST_F(Staging, BudgetHolds) {
  constexpr std::uint64_t kBudget = 96 * kMiB;  // more than any other test
  test::limits = {kBudget, 0s};
  Store store;
  store.delay = 500us;
  Staged file(store);
  for (std::uint64_t i = 0; i < 2500; ++i) file.write(i * kPage + 7, pattern(9, i));
  EXPECT_LE(engine::staging_peak(), kBudget);
  EXPECT_GT(engine::staging_peak(), kBudget / 2) << "it is used";
  file.staged.drain();
  for (std::uint64_t i = 0; i < 2500; i += 97) {
    EXPECT_EQ(std::memcmp(store.bytes.data() + i * kPage + 7, pattern(9, i).data(), 9), 0);
  }
}

TEST_F(Staging, AForkedChildStartsClean) {
  SKIP_UNDER_TSAN;
  Store store;
  Staged file(store);
  file.write(10, pattern(20 * kPage, 1));
  file.write(70 * kPage, pattern(3, 2));
  const pid_t child = ::fork();
  if (child == 0) {  // its memory, the store included, is a copy
    const bool settled = file.staged.staged_bytes() == 0 && store.bytes.size() == 70 * kPage + 3;
    file.write(0, pattern(3 * kPage, 3));
    file.staged.drain();
    const bool written = file.read(0, 3 * kPage) == pattern(3 * kPage, 3) &&
                         std::memcmp(store.bytes.data(), pattern(3 * kPage, 3).data(), 100) == 0;
    ::_exit(settled && written ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  file.write(0, pattern(3, 4));
  file.staged.drain();
  EXPECT_EQ(std::memcmp(store.bytes.data(), pattern(3, 4).data(), 3), 0);
}

TEST_F(Staging, ForksBesideAWriter) {
  SKIP_UNDER_TSAN;
  Store store;
  store.delay = 100us;
  std::atomic<bool> stop{false};
  pattern(1, 0);  // has its noise: a child would wait for a thread that was making it
  std::thread writer([&] {
    Staged file(store);
    for (unsigned i = 0; !stop; ++i) file.write(i % 50 * 3000ULL, pattern(1 + i % 300000, i));
    file.staged.drain();
  });
  for (int i = 0; i < 20; ++i) {
    const pid_t child = ::fork();
    if (child == 0) {
      Store own;
      Staged file(own);
      file.write(1, pattern(300000, 5));
      file.staged.drain();
      ::_exit(own.bytes.size() == 300001 ? 0 : 1);
    }
    int status = 0;
    EXPECT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }
  stop = true;
  writer.join();
}

}  // namespace
