// Beyond its end a file is not read.
#include <gtest/gtest.h>

#include "support/child.hpp"
#include "unit/staging/staging_store.hpp"

namespace {

using namespace headrace;
using test::Bytes;
using test::kPage;

class StagingEnd : public testing::Test {
 protected:
  StagingEnd() { test::limits = {8 * test::kMiB, {}}; }
};

const Bytes kZeros(100);
const Bytes kOnes(8, std::byte{1});

TEST_F(StagingEnd, ReadsBeyondAreZeros) {
  test::Store store;
  test::Staged file(store);
  file.write(5 * kPage, kOnes);
  EXPECT_EQ(file.read(5 * kPage + 50, 100), kZeros);
  EXPECT_EQ(file.read(3 * kPage, 100), kZeros);
  EXPECT_EQ(store.reads, 0);
  file.staged.drain();
  std::fill_n(store.bytes.begin() + 3 * kPage, 100, std::byte{2});
  EXPECT_EQ(file.read(3 * kPage, 100), Bytes(100, std::byte{2}));
  EXPECT_EQ(store.reads, 1);
}

TEST_F(StagingEnd, MovesWithTheSize) {
  test::Store store;
  store.bytes.resize(2 * kPage, std::byte{3});
  test::Staged file(store);
  EXPECT_EQ(file.read(kPage, 100), Bytes(100, std::byte{3}));
  EXPECT_EQ(file.read(2 * kPage, 100), kZeros);
  EXPECT_EQ(store.reads, 1);
  file.resize(kPage);
  EXPECT_EQ(file.read(kPage, 100), kZeros);
  EXPECT_EQ(store.reads, 1);
  file.staged.note_write(7 * kPage, kPage);
  EXPECT_EQ(file.read(7 * kPage, 100), kZeros);
  EXPECT_EQ(store.reads, 2);
}

TEST_F(StagingEnd, GapsBeyondAreFilledWithoutReading) {
  test::Store store;
  test::Staged file(store);
  Bytes expected(kPage);
  for (std::uint64_t at = 0; at < kPage; at += 64) {
    file.write(9 * kPage + at, kOnes);
    std::ranges::copy(kOnes, expected.begin() + static_cast<long>(at));
  }
  file.staged.drain();
  EXPECT_EQ(store.reads, 0);
  EXPECT_EQ(store.writes, 1);
  expected.resize(kPage - 56);
  EXPECT_EQ(file.read(9 * kPage, kPage - 56), expected);
}

TEST_F(StagingEnd, OfAFileThatOthersWriteIsUnknown) {
  test::Store store;
  engine::StagedFile file(std::make_unique<test::FakeFile>(store), 0, test::limits,
                          engine::Writers::others);
  EXPECT_FALSE(engine::StagedView(file, 1000, 10).beyond());
  file.set_end(10);
  EXPECT_FALSE(engine::StagedView(file, 1000, 10).beyond());
}

// The other process may have written there, and truncating it in one says nothing of the other.
TEST_F(StagingEnd, AfterAForkIsUnknown) {
  test::Store store;
  test::Staged file(store);
  ASSERT_TRUE(engine::StagedView(file.staged, 1000, 10).beyond());
  const auto unknown = [&] {
    file.staged.set_end(10);
    return !engine::StagedView(file.staged, 1000, 10).beyond();
  };
  const test::Child child(unknown);
  EXPECT_TRUE(unknown());
  EXPECT_TRUE(child.ends_well());
}

TEST_F(StagingEnd, WhatIsWrittenAtOnceMeetsWhatIsStaged) {
  test::Store store;
  test::Staged file(store);
  Bytes expected;
  for (std::uint64_t i = 0; i < 60; ++i) {
    const Bytes next = test::noise(1 + i * i * 211 % (3 * kPage), static_cast<unsigned>(i));
    if (i % 3 == 0)
      file.write(expected.size(), next);
    else
      file.staged.write_at_once(expected.size(), next);
    expected.insert(expected.end(), next.begin(), next.end());
    EXPECT_EQ(file.staged.end(), expected.size());
    EXPECT_TRUE(test::same(file.read(0, expected.size()), expected));
  }
  file.staged.drain();
  EXPECT_TRUE(test::same(store.bytes, expected));
}

}  // namespace
