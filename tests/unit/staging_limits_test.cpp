// Files with limits of their own, side by side.
#include <gtest/gtest.h>

#include "engine/staging/shared.hpp"
#include "unit/staging_model.hpp"

namespace {

using namespace headrace;
using namespace std::chrono_literals;
using test::Bytes;
using test::kMiB;
using test::kPage;
using test::Staged;
using test::Store;
using test::wait_until;

TEST(StagingLimits, EachFileHasItsInterval) {
  Store stores[3];
  test::limits = {64 * kMiB, 0s};
  Staged never(stores[0]);
  test::limits = {64 * kMiB, 10ms};
  Staged soon(stores[1]);
  test::limits = {64 * kMiB, 1h};
  Staged late(stores[2]);
  const Bytes bytes(5, std::byte{1});
  for (int round = 0; round < 3; ++round) {
    late.write(0, bytes);
    soon.write(0, bytes);
    never.write(0, bytes);
    wait_until("it was written, though a file with a longer one began to wait",
               [&] { return soon.staged.staged_bytes() == 0; });
  }
  EXPECT_EQ(never.staged.staged_bytes(), bytes.size());
  EXPECT_EQ(late.staged.staged_bytes(), bytes.size());
}

TEST(StagingLimits, TheLargestBudgetHoldsWhileItsFileIsThere) {
  Store store;
  Store other;
  test::limits = {2 * kMiB, 0s};
  Staged file(store);
  const Bytes part(kMiB, std::byte{2});
  {
    test::limits = {16 * kMiB, 0s};
    const Staged large(other);
    store.gate.close();  // or workers might be as quick as this thread
    for (std::uint64_t i = 0; i < 8; ++i) file.write(2 * i * kMiB + 1, part);
    EXPECT_GT(engine::staging_memory(), 8 * kMiB);
    store.gate.open();
    file.staged.drain();
  }
  for (std::uint64_t i = 0; i < 8; ++i) {
    file.write(2 * i * kMiB + 1, part);
    EXPECT_LE(engine::staging_memory(), 2 * kMiB);
  }
}

// Microseconds for a MiB each: what fast and slow storage take.
TEST(StagingMemory, IsEarnedOnFastStorage) {
  using engine::staging::Memory;
  engine::staging::FileState file;
  EXPECT_EQ(file.most_memory(true), Memory::kReserve);  // nothing is known yet
  file.note_speed(kMiB, 300us);
  EXPECT_EQ(file.most_memory(true), 0U);
  EXPECT_EQ(file.most_memory(false), Memory::kReserve);
  file.asked = true;
  EXPECT_EQ(file.most_memory(true), Memory::kReserve) << "of a given budget it is used at once";
  file.asked = false;
  file.statistics.bytes = 16 * kMiB;
  EXPECT_EQ(file.most_memory(true), Memory::kReserve);
  file.note_speed(100, 10us);
  EXPECT_EQ(file.most_memory(true), Memory::kReserve) << "a small write is not a slow one";
  for (int i = 0; i < 9; ++i) file.note_speed(kMiB, 5ms);
  EXPECT_GT(file.most_memory(true), Memory::kReserve);
}

// HDF5's sieve buffer reads a part of the file, changes some of it, and writes all of it back.
TEST(StagingSieve, WhatIsPutBackIsNotCopied) {
  Store store;
  store.bytes = Bytes(8 * kPage);
  test::limits = {0, 0s};
  Staged file(store);
  const Bytes bytes(kPage, std::byte{1});
  file.read(100, kPage);
  file.write(100, bytes);  // the first write: later ones depend on how fast it was
  EXPECT_EQ(file.staged.staged_bytes(), 0U);
  EXPECT_EQ(store.writes, 1);
  EXPECT_TRUE(std::ranges::equal(bytes, std::span(store.bytes).subspan(100, kPage)));
  file.read(5 * kPage, kPage);
  file.write(5 * kPage, Bytes(100, std::byte{3}));
  EXPECT_EQ(file.staged.staged_bytes(), 100U) << "a part of it is another write";
}

TEST(StagingSieve, WhatIsWrittenWithoutBeingReadAgainIsStaged) {
  Store store;
  store.bytes = Bytes(8 * kPage);
  test::limits = {0, 0s};
  Staged file(store);
  file.read(0, kPage);
  file.write(0, Bytes(kPage, std::byte{1}));
  EXPECT_EQ(store.writes, 1);
  file.write(0, Bytes(kPage, std::byte{2}));
  EXPECT_EQ(file.staged.staged_bytes(), kPage) << "nothing was read since";
  file.staged.drain();
  test::limits = {64 * kMiB, 0s};
  Staged asked(store);
  asked.read(4 * kPage + 9, kPage);
  asked.write(4 * kPage + 9, Bytes(kPage, std::byte{3}));
  EXPECT_EQ(asked.staged.staged_bytes(), kPage) << "a budget was given";
}

TEST(StagingSieve, WhatIsPutBackLeavesStagedPagesInTheirOrder) {
  Store store;
  store.bytes = Bytes(8 * kPage);
  test::limits = {0, 0s};
  Staged file(store);
  test::Plain model{store.bytes};
  const auto write = [&](std::uint64_t offset, const Bytes& bytes) {
    file.write(offset, bytes);
    model.write(offset, bytes);
  };
  write(2 * kPage + 7, Bytes(100, std::byte{4}));
  EXPECT_EQ(file.read(kPage + 9, kPage), model.read(kPage + 9, kPage));
  write(kPage + 9, Bytes(kPage, std::byte{5}));
  EXPECT_EQ(store.writes, 1) << "up to the page that was staged";
  EXPECT_EQ(file.staged.staged_bytes(), 107U);
  EXPECT_EQ(file.read(0, 8 * kPage), model.bytes);
  file.staged.drain();
  EXPECT_EQ(store.bytes, model.bytes);
}

}  // namespace
