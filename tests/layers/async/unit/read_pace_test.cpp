// When small asynchronous reads wait for one another, by how long they took.
#include "layers/async/connector/requests/read_pace.hpp"

#include <gtest/gtest.h>

namespace {

using namespace headrace;
using namespace std::chrono_literals;

constexpr auto kFast = 10us;
constexpr auto kSlow = 10ms;

TEST(ReadPace, ReadsWaitInSmallBatchesUntilTheStorageIsKnown) {
  const async::ReadPace pace;
  EXPECT_FALSE(pace.fast());
  EXPECT_LT(pace.most_waiting(), async::ReadPace::kMost);
}

TEST(ReadPace, ReadsOfSlowStorageWaitInLargeBatches) {
  async::ReadPace pace;
  pace.note_waited(true);
  EXPECT_FALSE(pace.fast());
  EXPECT_EQ(pace.most_waiting(), async::ReadPace::kMost);
}

TEST(ReadPace, ReadsAreMadeAtOnceUntilTwoInARowAreSlow) {
  async::ReadPace pace;
  pace.note_waited(false);
  EXPECT_TRUE(pace.fast());
  for (const auto time : {kFast + 0us, kSlow + 0us, kFast + 0us, kSlow + 0us}) {
    pace.note_at_once(time);
    EXPECT_TRUE(pace.fast());
  }
  pace.note_at_once(kSlow);
  EXPECT_FALSE(pace.fast());
  EXPECT_LT(pace.most_waiting(), async::ReadPace::kMost);
}

// Of a dataset of 64 rows of 65536 numbers of 4 bytes.
std::uint64_t reads_of(const engine::Index& start, const engine::Index& count,
                       const engine::Index& chunk = {}) {
  return async::reads_for({2, {64, 65536}, chunk}, 4, {start, count});
}

TEST(ReadPace, ABoxOfContiguousDataIsReadRunByRun) {
  EXPECT_EQ(reads_of({3, 0}, {16, 128}), 16U) << "rows far from one another";
  EXPECT_EQ(reads_of({3, 7}, {1, 128}), 1U);
  EXPECT_EQ(reads_of({3, 0}, {16, 65536}), 1U) << "whole rows side by side";
  EXPECT_EQ(async::reads_for({2, {1000, 10}, {}}, 4, {{0, 2}, {1000, 1}}), 1U)
      << "in one sieve buffer";
}

TEST(ReadPace, ABoxOfChunksIsReadChunkByChunk) {
  EXPECT_EQ(reads_of({3, 0}, {16, 128}, {64, 4096}), 1U);
  EXPECT_EQ(reads_of({3, 4000}, {16, 128}, {8, 4096}), 3U * 2U);
}

}  // namespace
