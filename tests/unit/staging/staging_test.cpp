// Staged files against a model of what a file holds.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>
#include <utility>
#include <vector>

#include "support/rounds.hpp"
#include "unit/staging/staging_model.hpp"

namespace {

using namespace headrace;
using namespace std::chrono_literals;
using test::Bytes;
using test::kMiB;
using test::kPage;
using test::pattern;
using test::Plain;
using test::rounds;
using test::Staged;
using test::Staging;
using test::Store;
using test::wait_for_rest;
using test::wait_until;

TEST(Dirty, AgreesWithASetOfBytes) {
  std::mt19937 random(7);
  for (unsigned round = 0; round < rounds(12); ++round) {
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
  store.gate.close();
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
  store.gate.open();
  file.staged.drain();
  EXPECT_EQ(store.bytes, model.bytes);
}

TEST_F(Staging, ReadsSeeWhatIsBeingWritten) {
  Store store;
  store.bytes = pattern(40 * kPage, 1);
  store.gate.close();
  Staged file(store);
  Plain model{store.bytes};
  const auto write = [&](std::uint64_t offset, const Bytes& bytes) {
    file.write(offset, bytes);
    model.write(offset, bytes);
  };
  write(3, pattern(40 * kPage, 2));
  wait_until("a write had begun", [&] { return store.begun > 0; });
  EXPECT_EQ(file.read(0, 41 * kPage), model.read(0, 41 * kPage));
  for (std::uint64_t page = 0; page < 40; page += 3)
    write(page * kPage + 50, pattern(page == 6 ? kPage : 9, page));
  EXPECT_EQ(file.read(0, 41 * kPage), model.read(0, 41 * kPage));
  EXPECT_EQ(file.read(kPage + 4, 50), model.read(kPage + 4, 50));
  Bytes seen(41 * kPage);
  const engine::StagedView view(file.staged, 0, seen.size());
  store.read(0, seen);  // before any of it is written
  store.gate.open();
  file.staged.drain();
  view.apply(seen);  // a version that was written meanwhile is not lost
  EXPECT_EQ(seen, model.read(0, 41 * kPage));
  EXPECT_EQ(store.bytes, model.bytes);
}

// Adjacent pages go to the storage in few writes, rewritten bytes once.
TEST_F(Staging, MergesAndAbsorbs) {
  Store store;
  store.gate.close();
  Staged file(store);
  for (std::uint64_t i = 0; i < 4 * kPage / 8; ++i) file.write(i * 8, pattern(8, i % 250));
  for (std::uint64_t i = 0; i < 100; ++i) file.write(kPage * 4 + 8, pattern(8, 9));
  store.gate.open();
  file.staged.drain();
  const engine::StagingStatistics statistics = file.staged.statistics();
  EXPECT_EQ(statistics.absorbed, 99 * 8U);
  EXPECT_LE(store.writes, 5);
  EXPECT_EQ(statistics.storage_writes, static_cast<std::uint64_t>(store.writes));
  EXPECT_EQ(statistics.storage_bytes, 4 * kPage + 8);
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

TEST_F(Staging, OldDataIsWrittenUnasked) {
  test::limits = {64 * kMiB, 10ms};
  Store store;
  Staged file(store);
  file.write(5, pattern(8, 1));
  wait_until("it was written", [&] { return file.staged.staged_bytes() == 0; });
  EXPECT_EQ(store.writes, 1);
}

TEST_F(Staging, NothingIsWrittenUnaskedWithoutAnInterval) {
  Store store;
  Staged file(store);
  file.write(5, pattern(8, 1));
  test::limits = {64 * kMiB, 1ms};
  Store younger;
  Staged other(younger);
  other.write(5, pattern(8, 1));
  wait_until("what came later was written", [&] { return other.staged.staged_bytes() == 0; });
  wait_for_rest();
  EXPECT_EQ(store.begun, 0);
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

}  // namespace
