// Files with limits of their own, side by side.
#include <gtest/gtest.h>

#include "engine/staging/shared.hpp"
#include "unit/staging/staging_store.hpp"

namespace {

using namespace headrace;
using namespace std::chrono_literals;
using test::Bytes;
using test::kMiB;
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

}  // namespace
