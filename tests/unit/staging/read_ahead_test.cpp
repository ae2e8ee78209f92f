// Reading ahead of readers of a file that nobody writes.
#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <memory>
#include <random>
#include <thread>
#include <vector>

#include "unit/staging/read_ahead_file.hpp"

// In place of the C library's.
extern "C" [[gnu::visibility("default")]] int clock_gettime(clockid_t clock,
                                                            timespec* time) noexcept {
  const auto status = static_cast<int>(::syscall(SYS_clock_gettime, clock, time));
  const std::int64_t ahead = headrace::test::clock_ahead;
  if (status != 0 || ahead == 0 || clock != CLOCK_MONOTONIC) return status;
  constexpr std::int64_t kSecond = 1'000'000'000;
  const std::int64_t told = time->tv_sec * kSecond + time->tv_nsec + ahead;
  *time = {told / kSecond, told % kSecond};
  return 0;
}

namespace {

using namespace headrace;
using namespace std::chrono_literals;
using engine::reading::Stream;
using engine::reading::Streams;
using test::File;
using test::kFast;
using test::kMiB;
using test::noise;
using test::ReadingAhead;
using test::same;
using test::Store;

constexpr std::uint64_t kKiB = 1024;

TEST(Streams, KnowsForwardReaders) {
  Streams streams;
  // Four at a time, each with small gaps, and metadata in between.
  std::array<std::uint64_t, 4> at{0, 100 * kMiB, 200 * kMiB, 300 * kMiB};
  std::mt19937 random(1);
  for (unsigned round = 0; round < 20; ++round)
    for (auto& offset : at) {
      const Stream* stream = streams.add(offset, 64 * kKiB).stream;
      EXPECT_EQ(stream != nullptr, round > 0);
      EXPECT_TRUE(stream == nullptr || stream->matches == round);
      offset += 64 * kKiB + random() % (32 * kKiB);
      for (int i = 0; i < 2; ++i) streams.add(kMiB * (1000 + random() % 1000), 512);
    }
}

TEST(Streams, KnowsSteps) {
  Streams streams;
  for (std::uint64_t i = 0; i < 10; ++i) {
    const Stream* stream = streams.add(i * kMiB, 4 * kKiB).stream;
    EXPECT_EQ(stream != nullptr, i >= 2);
    EXPECT_TRUE(stream == nullptr || stream->step == kMiB);
  }
}

TEST(Streams, KnowsReadersWithoutOrder) {
  Streams streams;
  std::mt19937_64 random(1);
  for (unsigned i = 0; i < 1000; ++i)
    EXPECT_EQ(streams.add(random() % (1ULL << 40U), 1 + random() % kMiB).stream, nullptr);
  for (std::uint64_t i = 1000; i-- > 0;)
    EXPECT_EQ(streams.add(i * kMiB, 64 * kKiB).stream, nullptr) << "backward";
}

TEST_F(ReadingAhead, ReadsAllButTheBeginAhead) {
  Store store;
  store.bytes = noise(40 * kMiB + 12345, 1);
  for (const std::uint64_t size : {kMiB, 700 * kKiB + 1, 64 * kKiB, 5 * kMiB}) {
    File file(store);
    forward(file, 0, 41 * kMiB, size);
    EXPECT_EQ(file.told().hits, store.bytes.size() - 4 * size) << size;
    EXPECT_EQ(file.told().bytes, file.told().hits);
  }
}

TEST_F(ReadingAhead, LeavesFastStorageAlone) {
  Store store;
  store.bytes = noise(8 * kMiB, 1);
  File file(store);
  file.time = kFast;
  file.reads.slow = false;
  forward(file, 0, 8 * kMiB, 64 * kKiB);
  EXPECT_EQ(file.reads.begun, 0);
}

TEST_F(ReadingAhead, LeavesReadersWithoutOrderAlone) {
  Store store;
  store.bytes = noise(32 * kMiB, 1);
  File file(store);
  std::mt19937 random(1);
  for (int i = 0; i < 500; ++i) file.read(random() % (31 * kMiB), 1 + random() % (4 * kKiB));
  EXPECT_EQ(file.told().bytes, 0);
  std::vector<std::uint64_t> places(128);
  for (std::uint64_t i = 0; i < places.size(); ++i) places[i] = i * 256 * kKiB;
  for (int i = 0; i < 8; ++i) {
    std::shuffle(places.begin(), places.end(), random);
    for (const std::uint64_t place : places) file.read(place, 256 * kKiB);
  }
  EXPECT_LE(file.told().unused, 8 * kMiB) << "of 256 MiB";
}

TEST_F(ReadingAhead, FollowsStepsAndSeveralReaders) {
  Store store;
  store.bytes = noise(64 * kMiB, 1);
  {
    File file(store);
    for (std::uint64_t at = 0; at < 64 * kMiB; at += kMiB)
      EXPECT_TRUE(same(file.read(at, 64 * kKiB), part(store, at, 64 * kKiB)));
    EXPECT_EQ(file.below, 256 * kKiB);
  }
  File file(store);
  for (std::uint64_t at = 0; at < 16 * kMiB; at += 64 * kKiB)
    for (std::uint64_t reader = 0; reader < 4; ++reader)
      EXPECT_TRUE(same(file.read(reader * 16 * kMiB + at, 64 * kKiB),
                       part(store, reader * 16 * kMiB + at, 64 * kKiB)));
  EXPECT_LE(file.below, 1280 * kKiB);
  EXPECT_EQ(file.told().hits, 64 * kMiB - file.below);
}

TEST_F(ReadingAhead, KeepsWithinItsMemory) {
  Store store;
  store.bytes = noise(32 * kMiB, 1);
  test::ahead_limit = 2 * kMiB;
  File file(store);
  File other(store);
  for (std::uint64_t at = 0; at < 32 * kMiB; at += 256 * kKiB) {
    EXPECT_TRUE(same(file.read(at, 256 * kKiB), part(store, at, 256 * kKiB)));
    EXPECT_TRUE(same(other.read(at, 256 * kKiB), part(store, at, 256 * kKiB)));
    const auto told = file.told();
    EXPECT_LE(told.bytes - told.hits, 2 * kMiB);
  }
  EXPECT_GT(file.told().hits, 0);
}

TEST_F(ReadingAhead, EachFileHasItsMemory) {
  Store store;
  store.bytes = noise(32 * kMiB, 1);
  test::ahead_limit = 16 * kMiB;
  File large(store);
  test::ahead_limit = kMiB;
  File little(store);
  std::uint64_t most = 0;
  for (std::uint64_t at = 0; at < 32 * kMiB; at += 256 * kKiB) {
    EXPECT_TRUE(same(large.read(at, 256 * kKiB), part(store, at, 256 * kKiB)));
    EXPECT_TRUE(same(little.read(at, 256 * kKiB), part(store, at, 256 * kKiB)));
    EXPECT_LE(little.told().bytes - little.told().hits, kMiB);
    most = std::max(most, large.told().bytes - large.told().hits);
  }
  EXPECT_GT(little.told().hits, 0);
  EXPECT_GT(most, 2 * kMiB) << "though a file with a smaller bound was opened later";
}

// A file whose reader has gone elsewhere does not keep others from reading ahead for ever.
TEST_F(ReadingAhead, TakesMemoryFromReadersThatStopped) {
  Store store;
  store.bytes = noise(32 * kMiB, 1);
  test::ahead_limit = 4 * kMiB;
  std::vector<std::unique_ptr<File>> files;
  for (int i = 0; i < 6; ++i) {
    files.push_back(std::make_unique<File>(store));
    forward(*files.back(), 0, 8 * kMiB, kMiB);
  }
  test::clock_ahead = std::chrono::nanoseconds(2100ms).count();
  File file(store);
  forward(file, 0, 16 * kMiB, kMiB);
  EXPECT_GT(file.told().hits, 8 * kMiB);
  for (auto& before : files) forward(*before, 8 * kMiB, 12 * kMiB, kMiB);
  test::clock_ahead = 0;
}

TEST_F(ReadingAhead, ErrorsAreLeftToTheReader) {
  Store store;
  store.bytes = noise(16 * kMiB, 1);
  File file(store);
  file.reads.failing = 3;
  EXPECT_GE(forward(file, 0, 16 * kMiB, 256 * kKiB), 1024 * kKiB);
  EXPECT_LE(file.reads.failing, 0);
}

}  // namespace
