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

constexpr std::uint64_t kForward = 3;  // of these are staged

void put_back(Staged& file, std::uint64_t offset, std::byte value) {
  file.read(offset, kPage);
  file.write(offset, Bytes(kPage, value));
}

// What goes forward through the first pages, and has been written by the next call.
void go_forward(Staged& file) {
  for (std::uint64_t i = 0; i < kForward; ++i) put_back(file, i * kPage, std::byte{9});
  file.staged.drain();
}

class StagingSieve : public testing::Test {
 protected:
  void SetUp() override {
    test::limits = {0, 0s};
    store.bytes = Bytes(16 * kPage);
  }
  Store store;
};

TEST_F(StagingSieve, WhatIsPutBackIsNotCopied) {
  Staged file(store);
  go_forward(file);
  const int before = store.writes;
  put_back(file, 4 * kPage + 100, std::byte{1});
  EXPECT_EQ(file.staged.staged_bytes(), 0U);
  EXPECT_EQ(store.writes, before + 1);
  EXPECT_TRUE(std::ranges::equal(Bytes(kPage, std::byte{1}),
                                 std::span(store.bytes).subspan(4 * kPage + 100, kPage)));
  file.read(9 * kPage, kPage);
  file.write(9 * kPage, Bytes(100, std::byte{3}));
  EXPECT_EQ(file.staged.staged_bytes(), 100U) << "a part of it is another write";
}

TEST_F(StagingSieve, WhatDoesNotGoForwardIsStaged) {
  Staged file(store);
  go_forward(file);
  put_back(file, kPage, std::byte{1});
  EXPECT_EQ(file.staged.staged_bytes(), kPage);
  for (std::uint64_t i = 2; i < 1 + kForward; ++i) put_back(file, i * kPage, std::byte{2});
  EXPECT_EQ(file.staged.staged_bytes(), kForward * kPage) << "not yet again";
}

TEST_F(StagingSieve, WhatIsWrittenWithoutBeingReadAgainIsStaged) {
  Staged file(store);
  go_forward(file);
  put_back(file, 4 * kPage, std::byte{1});
  EXPECT_EQ(file.staged.staged_bytes(), 0U);
  file.write(5 * kPage, Bytes(kPage, std::byte{2}));
  EXPECT_EQ(file.staged.staged_bytes(), kPage) << "nothing was read since";
  file.staged.drain();
  test::limits = {64 * kMiB, 0s};
  Staged asked(store);
  go_forward(asked);
  put_back(asked, 4 * kPage + 9, std::byte{3});
  EXPECT_EQ(asked.staged.staged_bytes(), kPage) << "a budget was given";
}

TEST_F(StagingSieve, WhatIsPutBackLeavesStagedPagesInTheirOrder) {
  Staged file(store);
  go_forward(file);
  test::Plain model{store.bytes};
  const auto write = [&](std::uint64_t offset, const Bytes& bytes) {
    file.write(offset, bytes);
    model.write(offset, bytes);
  };
  const int before = store.writes;
  write(6 * kPage + 7, Bytes(100, std::byte{4}));
  EXPECT_EQ(file.read(5 * kPage + 9, kPage), model.read(5 * kPage + 9, kPage));
  write(5 * kPage + 9, Bytes(kPage, std::byte{5}));
  EXPECT_EQ(store.writes, before + 1) << "up to the page that was staged";
  EXPECT_EQ(file.staged.staged_bytes(), 107U);
  EXPECT_EQ(file.read(0, 16 * kPage), model.bytes);
  file.staged.drain();
  EXPECT_EQ(store.bytes, model.bytes);
}

}  // namespace
