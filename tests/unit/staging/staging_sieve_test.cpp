// Writes that put back what has just been read: HDF5's sieve buffer reads a part of the file,
// changes some of it, and writes all of it back.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <span>

#include "engine/staging/put_backs.hpp"
#include "unit/staging/staging_model.hpp"

namespace {

using namespace headrace;
using namespace std::chrono_literals;
using test::Bytes;
using test::kMiB;
using test::kPage;
using test::Staged;
using test::Store;

constexpr std::uint64_t kForward = 11;  // of these are staged

void put_back(Staged& file, std::uint64_t offset, std::byte value) {
  file.read(offset, kPage);
  file.write(offset, Bytes(kPage, value));
}

// What goes forward through the first pages. It leaves them partial, so that nobody writes them,
// and sees how fast the store is.
void go_forward(Staged& file) {
  for (std::uint64_t i = 0; i < kForward; ++i) put_back(file, 2 * i * kPage + 100, std::byte{9});
}

class StagingSieve : public testing::Test {
 protected:
  void SetUp() override {
    test::limits = {0, 0s};
    store.bytes = Bytes(32 * kPage);
  }
  Store store;
};

TEST_F(StagingSieve, WhatIsPutBackIsNotCopied) {
  Staged file(store);
  go_forward(file);
  EXPECT_EQ(store.writes, 0);
  put_back(file, 24 * kPage + 100, std::byte{1});
  EXPECT_EQ(file.staged.staged_bytes(), kForward * kPage);
  EXPECT_EQ(store.writes, 1);
  EXPECT_TRUE(std::ranges::equal(Bytes(kPage, std::byte{1}),
                                 std::span(store.bytes).subspan(24 * kPage + 100, kPage)));
  file.read(224 * kPage, kPage);
  file.write(224 * kPage, Bytes(100, std::byte{3}));
  EXPECT_EQ(file.staged.staged_bytes(), kForward * kPage + 100) << "a part of it is another write";
}

TEST_F(StagingSieve, WhatDoesNotGoForwardIsStaged) {
  Staged file(store);
  go_forward(file);
  go_forward(file);
  EXPECT_EQ(store.writes, 0);
  EXPECT_EQ(file.staged.staged_bytes(), kForward * kPage);
}

TEST_F(StagingSieve, WhatGoesForwardInSeveralPlacesByTurnsIsNotCopied) {
  store.bytes = Bytes(64 * kPage);
  Staged file(store);
  // No more than one: after it, how fast this machine copied decides.
  for (std::uint64_t i = 0; i <= kForward; ++i)
    put_back(file, (i % 2 * 32 + i / 2 * 2) * kPage + 100, std::byte{9});
  EXPECT_EQ(store.writes, 1);
  EXPECT_EQ(file.staged.staged_bytes(), kForward * kPage);
}

TEST(PutBacks, WritesInARandomOrderHardlyEverGoForward) {
  std::mt19937_64 random(5);
  engine::staging::PutBacks put_backs;
  constexpr int kWrites = 100'000;
  int forward = 0;
  for (int i = 0; i < kWrites; ++i) {
    const std::uint64_t offset = random() % 800'000;
    forward += put_backs.go_forward(offset, offset + 65536) ? 1 : 0;
  }
  EXPECT_LT(forward, kWrites / 50);
}

TEST_F(StagingSieve, WhatIsWrittenWithoutBeingReadAgainIsStaged) {
  Staged file(store);
  go_forward(file);
  put_back(file, 24 * kPage + 9, std::byte{1});
  EXPECT_EQ(store.writes, 1);
  file.write(26 * kPage + 9, Bytes(kPage, std::byte{2}));
  EXPECT_EQ(store.writes, 1) << "nothing was read since";
  EXPECT_EQ(file.staged.staged_bytes(), (kForward + 1) * kPage);
}

TEST_F(StagingSieve, WhatMemoryWasGivenForIsStaged) {
  test::limits = {64 * kMiB, 0s};
  Staged file(store);
  go_forward(file);
  put_back(file, 24 * kPage + 9, std::byte{3});
  EXPECT_EQ(store.writes, 0);
  EXPECT_EQ(file.staged.staged_bytes(), (kForward + 1) * kPage);
}

TEST_F(StagingSieve, WhatIsPutBackLeavesStagedPagesInTheirOrder) {
  Staged file(store);
  test::Plain model{store.bytes};
  const auto write = [&](std::uint64_t offset, const Bytes& bytes) {
    file.write(offset, bytes);
    model.write(offset, bytes);
  };
  for (std::uint64_t i = 0; i < kForward; ++i) {
    file.read(2 * i * kPage + 100, kPage);
    write(2 * i * kPage + 100, Bytes(kPage, std::byte{9}));
  }
  write(26 * kPage + 7, Bytes(100, std::byte{4}));
  EXPECT_EQ(file.read(25 * kPage + 9, kPage), model.read(25 * kPage + 9, kPage));
  write(25 * kPage + 9, Bytes(kPage, std::byte{5}));
  EXPECT_EQ(store.writes, 1) << "up to the page that was staged";
  EXPECT_EQ(file.staged.staged_bytes(), kForward * kPage + 107);
  EXPECT_EQ(file.read(0, 32 * kPage), model.bytes);
  file.staged.drain();
  EXPECT_EQ(store.bytes, model.bytes);
}

}  // namespace
