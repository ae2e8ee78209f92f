// When small asynchronous reads wait for one another, by how long they took.
#include "connectors/async/requests/read_pace.hpp"

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

}  // namespace
