// Staged files and bytes that are lent to them.
#include <gtest/gtest.h>

#include <chrono>
#include <cstring>
#include <list>
#include <random>
#include <thread>

#include "engine/threads/thread_pool.hpp"
#include "support/rounds.hpp"
#include "unit/staging/staging_model.hpp"

namespace {

using namespace headrace;
using namespace std::chrono_literals;
using engine::Lending;
using test::Bytes;
using test::kPage;
using test::pattern;
using test::rounds;
using test::same;
using test::Staged;
using test::Store;
using test::wait_for_rest;
using test::wait_until;

constexpr auto kForever = std::chrono::nanoseconds::max();

std::shared_ptr<engine::Completion> lend(Staged& file, std::uint64_t offset, const Bytes& bytes) {
  const Lending lending(bytes);
  file.write(offset, bytes);
  return lending.completion();
}

class LentTest : public ::testing::Test {
 protected:
  void SetUp() override { test::limits = {1U << 20U, 0s}; }
};

TEST_F(LentTest, WholePagesAreNotCopied) {
  Store store;
  Staged file(store);
  Bytes bytes = pattern(4 * kPage, 1);
  const auto completion = lend(file, 100, bytes);
  ASSERT_NE(completion, nullptr);
  EXPECT_EQ(file.staged.statistics().lent, 3 * kPage);
  EXPECT_EQ(file.read(100, bytes.size()), bytes);
  EXPECT_TRUE(completion->wait(kForever));
  EXPECT_EQ(completion->error(), nullptr);
  const Bytes expected = std::exchange(bytes, Bytes(bytes.size()));
  file.staged.drain();
  EXPECT_EQ(file.read(100, expected.size()), expected);
}

TEST_F(LentTest, WhatIsNotLentHasNoCompletion) {
  Store store;
  Staged file(store);
  const Bytes mine = pattern(4 * kPage, 1);
  const Bytes small = pattern(100, 2);
  const Lending lending(mine);
  file.write(0, pattern(4 * kPage, 3));
  file.write(0, small);
  EXPECT_EQ(lending.completion(), nullptr);
  EXPECT_EQ(file.staged.statistics().lent, 0U);
}

// Without an interval nothing else would ever write a single page.
TEST_F(LentTest, APageBehindAnOlderVersionIsWrittenToo) {
  Store store;
  Staged file(store);
  store.gate.close();
  const Bytes first = pattern(2 * kPage, 1);
  const Bytes second = pattern(2 * kPage, 2);
  const auto older = lend(file, 0, first);
  wait_until("a write had begun", [&] { return store.begun > 0; });
  const auto newer = lend(file, 0, second);
  store.gate.open();
  EXPECT_TRUE(older->wait(test::kPatience));
  EXPECT_TRUE(newer->wait(test::kPatience));
  EXPECT_EQ(store.bytes, second);
}

const Bytes kLent = pattern(8 * kPage, 1);

// Lent bytes that are written over stay as they are.
void write_on_top(Store& store, Staged& file, const Bytes& lent, engine::Completion& completion) {
  Bytes expected = kLent;
  const Bytes later = pattern(3 * kPage, 9);
  file.write(kPage / 2, later);
  std::ranges::copy(later, expected.begin() + kPage / 2);
  EXPECT_EQ(file.read(0, expected.size()), expected);
  file.staged.drain();
  EXPECT_TRUE(completion.wait(0ns));
  EXPECT_EQ(store.bytes, expected);
  EXPECT_EQ(lent, kLent) << "lent bytes were written to";
}

TEST_F(LentTest, LaterWritesComeOnTopOfWhatIsBeingWritten) {
  Store store;
  Staged file(store);
  store.gate.close();
  const Bytes lent = kLent;
  const auto completion = lend(file, 0, lent);
  wait_until("the write had begun", [&] { return store.begun > 0; });
  EXPECT_FALSE(completion->wait(1ms));
  const std::jthread opener([&] {
    wait_for_rest();  // the program waits, at the latest for all to be written
    store.gate.open();
  });
  write_on_top(store, file, lent, *completion);
}

TEST_F(LentTest, LaterWritesComeOnTopOfWhatWaits) {
  Store store;
  Staged file(store);
  engine::pause_workers();
  const Bytes lent = kLent;
  const auto completion = lend(file, 0, lent);
  EXPECT_FALSE(completion->wait(0ns));
  write_on_top(store, file, lent, *completion);
  engine::resume_workers();
}

TEST_F(LentTest, AnErrorIsTheLendersAlone) {
  Store store;
  Staged file(store);
  store.fail_from = 0;
  const Bytes bytes = pattern(4 * kPage, 1);
  const auto completion = lend(file, 0, bytes);
  EXPECT_TRUE(completion->wait(kForever));
  ASSERT_NE(completion->error(), nullptr);
  EXPECT_THROW(std::rethrow_exception(completion->error()), Error);
  EXPECT_NO_THROW(file.staged.drain());
  EXPECT_EQ(file.staged.staged_bytes(), 0U);
}

TEST_F(LentTest, CopiedBytesBesideThemAreToldByTheFile) {
  Store store;
  Staged file(store);
  store.fail_from = 0;
  const Bytes bytes = pattern(4 * kPage, 1);
  const auto completion = lend(file, 100, bytes);  // the first and last page are parts
  EXPECT_THROW(file.staged.drain(), Error);
  EXPECT_TRUE(completion->wait(kForever));
  EXPECT_NE(completion->error(), nullptr);
  store.fail_from = -1;
  EXPECT_NO_THROW(file.staged.drain());
}

// Lent and other writes at random; buffers are scrubbed as soon as they are given back.
TEST_F(LentTest, RandomPrograms) {
  struct Lent {
    Bytes bytes;
    std::shared_ptr<engine::Completion> completion;
  };
  for (unsigned seed = 0; seed < rounds(20); ++seed) {
    std::mt19937 random(seed);
    Store store;
    store.delay = std::chrono::microseconds(seed % 4 * 50);
    Bytes model(40 * kPage);
    store.bytes = model;
    Staged file(store);
    std::list<Lent> lent;
    for (unsigned step = 0; step < 60; ++step) {
      const std::uint64_t size = random() % (5 * kPage) + 1;
      std::uint64_t offset = random() % (model.size() - size);
      if (random() % 2 == 0) offset -= offset % kPage;
      const Bytes bytes = pattern(size, seed * 100 + step);
      std::memcpy(model.data() + offset, bytes.data(), size);
      if (random() % 3 == 0) {
        file.write(offset, bytes);
      } else {
        lent.push_back({bytes, {}});
        lent.back().completion = lend(file, offset, lent.back().bytes);
      }
      lent.remove_if([&](Lent& one) {
        const bool done = one.completion == nullptr || one.completion->wait(0ns);
        if (done) std::memset(one.bytes.data(), 0xdd, one.bytes.size());
        return done;
      });
      if (random() % 8 == 0) {
        ASSERT_TRUE(same(file.read(0, model.size()), model)) << "seed " << seed << " step " << step;
      }
    }
    file.staged.drain();
    ASSERT_TRUE(same(store.bytes, model)) << "seed " << seed;
    EXPECT_FALSE(store.overlapped);
  }
}

}  // namespace
