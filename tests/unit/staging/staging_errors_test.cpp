// Staged files over storage that fails.
#include <gtest/gtest.h>

#include <string>

#include "unit/staging/staging_model.hpp"

namespace {

using namespace headrace;
using namespace std::chrono_literals;
using test::Bytes;
using test::kMiB;
using test::kPage;
using test::pattern;
using test::Plain;
using test::random_program;
using test::Staged;
using test::Staging;
using test::Store;
using test::wait_until;

TEST_F(Staging, AnErrorIsToldOnceAndTheDataTriedAgain) {
  Store store;
  store.fail_from = 0;
  Staged file(store);
  const Bytes data = pattern(10 * kPage, 4);
  file.write(3, data);
  try {
    file.staged.drain();
    FAIL() << "a failed write was not told";
  } catch (const Error& error) {
    EXPECT_EQ(error.error_number(), ENOSPC);
    EXPECT_NE(std::string(error.what()).find("file f at offset"), std::string::npos);
  }
  EXPECT_EQ(file.staged.staged_bytes(), data.size());
  EXPECT_EQ(file.read(3, data.size()), data) << "what failed is still read";
  const int before = store.writes;
  EXPECT_THROW(file.staged.drain(), Error) << "tried again, failed again";
  EXPECT_GT(store.writes, before);
  EXPECT_LT(store.writes, before + 4);
  file.write(kPage, pattern(5, 5));
  store.fail_from = -1;
  file.staged.drain();
  EXPECT_EQ(file.staged.staged_bytes(), 0U);
  Plain model;
  model.write(3, data);
  model.write(kPage, pattern(5, 5));
  EXPECT_EQ(store.bytes, model.bytes);
}

// The error of a write that succeeds when it is tried again is told all the same.
TEST_F(Staging, ABackgroundErrorIsTold) {
  Store store;
  store.fail_from = 0;
  store.fail_count = 1;
  Staged file(store);
  file.write(0, pattern(40 * kPage, 1));
  wait_until("a write had failed", [&] { return store.writes > 0; });
  EXPECT_THROW(file.staged.drain(), Error);
  file.staged.drain();
  EXPECT_EQ(store.bytes, pattern(40 * kPage, 1));
}

// A newer version over a failed one: neither is lost.
TEST_F(Staging, RewriteOfAFailedPage) {
  Store store;
  store.gate.close();
  store.fail_from = 0;
  Staged file(store);
  Plain model;
  const auto write = [&](std::uint64_t offset, const Bytes& bytes) {
    file.write(offset, bytes);
    model.write(offset, bytes);
  };
  write(0, pattern(40 * kPage, 1));
  wait_until("a write had begun", [&] { return store.begun > 0; });
  write(100, pattern(8, 2));
  write(kPage + 7, pattern(kPage, 3));
  store.gate.open();
  EXPECT_THROW(file.staged.drain(), Error);
  EXPECT_EQ(file.read(0, 41 * kPage), model.read(0, 41 * kPage));
  write(104, pattern(8, 4));
  EXPECT_EQ(file.read(0, 41 * kPage), model.read(0, 41 * kPage));
  store.fail_from = -1;
  file.staged.drain();
  EXPECT_EQ(store.bytes, model.bytes);
}

// A full storage and a full budget: the program is told by its own writes, nothing hangs.
TEST_F(Staging, FailedPagesDoNotHang) {
  test::limits = {kMiB, 0s};
  Store store;
  store.fail_from = 0;
  {
    Staged file(store);
    bool told = false;
    for (unsigned i = 0; i < 200 && !told; ++i) try {
        file.write(i * kPage, pattern(100, i));
      } catch (const Error&) {
        told = true;
      }
    EXPECT_TRUE(told);
    EXPECT_THROW(file.staged.drain(), Error);
  }
  store.fail_from = -1;
  random_program(400, kMiB, 0us);  // the memory came back
}

TEST_F(Staging, CutForgetsWhatFailed) {
  Store store;
  store.fail_from = 0;
  Staged file(store);
  file.write(0, pattern(4 * kPage, 1));
  EXPECT_THROW(file.staged.drain(), Error);
  file.staged.storage().resize(kPage + 10);
  file.staged.set_end(kPage + 10);
  EXPECT_EQ(file.staged.staged_bytes(), kPage + 10);
  store.fail_from = -1;
  file.staged.drain();
  Bytes expected = pattern(4 * kPage, 1);
  expected.resize(kPage + 10);
  EXPECT_EQ(store.bytes, expected);
}

}  // namespace
