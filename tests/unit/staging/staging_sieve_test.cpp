// Writes that put back what has just been read: HDF5's sieve buffer reads a part of the file,
// changes some of it, and writes all of it back.
#include <gtest/gtest.h>

#include <algorithm>
#include <span>

#include "unit/staging/staging_model.hpp"

namespace {

using namespace headrace;
using namespace std::chrono_literals;
using test::Bytes;
using test::kMiB;
using test::kPage;
using test::Staged;
using test::Store;

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
