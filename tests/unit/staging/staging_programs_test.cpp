// Random programs, threads and forks on staged files.
#include <gtest/gtest.h>

#include <atomic>
#include <random>
#include <thread>
#include <vector>

#include "support/child.hpp"
#include "support/rounds.hpp"
#include "unit/staging/staging_model.hpp"

namespace headrace::test {

void random_program(unsigned seed, std::uint64_t budget, std::chrono::microseconds delay) {
  limits = {budget, seed % 2 == 0 ? 2ms : 0ms};
  std::mt19937 random(seed);
  Store store;
  store.bytes = pattern(random() % (3 * kPage), seed);
  store.delay = delay;
  Plain model{store.bytes};
  Staged file(store);
  const std::uint64_t span = (1 + random() % 40) * kPage;
  for (int step = 0; step < 300; ++step) {
    const std::uint64_t offset = random() % span;
    const std::size_t size = 1 + random() % (1U << (random() % 21));
    switch (random() % 13) {
      case 0:
        file.staged.drain();
        ASSERT_TRUE(same(store.bytes, model.bytes)) << "seed " << seed << " step " << step;
        break;
      case 1:
        file.resize(offset);
        model.bytes.resize(offset);
        break;
      case 2:
      case 3:
      case 4:
        ASSERT_TRUE(same(file.read(offset, size), model.read(offset, size)))
            << "seed " << seed << " step " << step;
        break;
      case 5:  // HDF5's sieve buffer reads what it writes back
        ASSERT_TRUE(same(file.read(offset, size), model.read(offset, size)))
            << "seed " << seed << " step " << step;
        [[fallthrough]];
      default:
        const Bytes data = pattern(size, random());
        file.write(offset, data);
        model.write(offset, data);
    }
    ASSERT_EQ(file.staged.end(), model.bytes.size());
  }
  file.staged.drain();
  EXPECT_TRUE(same(store.bytes, model.bytes)) << "seed " << seed;
  EXPECT_FALSE(store.overlapped) << "two writes of the same bytes at a time";
}

}  // namespace headrace::test

namespace {

using namespace headrace;
using namespace std::chrono_literals;
using test::Bytes;
using test::Child;
using test::kMiB;
using test::kPage;
using test::pattern;
using test::Plain;
using test::random_program;
using test::rounds;
using test::Staged;
using test::Staging;
using test::Store;

#ifdef __SANITIZE_THREAD__
#define SKIP_UNDER_TSAN GTEST_SKIP() << "a child under tsan cannot start threads"
#else
#define SKIP_UNDER_TSAN static_cast<void>(0)
#endif

TEST_F(Staging, RandomPrograms) {
  for (unsigned seed = 0; seed < rounds(12); ++seed) random_program(seed, 64 * kMiB, 0us);
}
TEST_F(Staging, RandomProgramsOnASlowFile) {
  for (unsigned seed = 100; seed < 100 + rounds(12); ++seed) random_program(seed, 64 * kMiB, 300us);
}
TEST_F(Staging, RandomProgramsInLittleMemory) {
  for (unsigned seed = 200; seed < 200 + rounds(12); ++seed) random_program(seed, kMiB, 100us);
}

// No budget is given: what puts back what was read passes by.
TEST_F(Staging, RandomProgramsWithoutABudget) {
  for (unsigned seed = 400; seed < 400 + rounds(12); ++seed) random_program(seed, 0, 0us);
}

// Several files, each used by its own thread, share the memory.
TEST_F(Staging, FilesInThreads) {
  std::vector<std::thread> threads;
  for (unsigned seed = 300; seed < 304; ++seed)
    threads.emplace_back([seed] { random_program(seed, 2 * kMiB, 50us); });
  for (auto& thread : threads) thread.join();
}

// Another version of a page is staged while the older one is being written, again and again.
TEST_F(Staging, RewritesKeepTheirOrder) {
  Store store;
  store.delay = 200us;
  Staged file(store);
  Plain model;
  for (unsigned i = 0; i < 300; ++i) {
    const Bytes data = pattern(20 * kPage, i);
    file.write(i % 3 * 1000ULL, data);
    model.write(i % 3 * 1000ULL, data);
    if (i % 7 == 0) {
      ASSERT_EQ(file.read(0, kPage), model.read(0, kPage));
    }
  }
  file.staged.drain();
  EXPECT_EQ(store.bytes, model.bytes);
  EXPECT_FALSE(store.overlapped);
}

TEST_F(Staging, AForkedChildStartsClean) {
  SKIP_UNDER_TSAN;
  Store store;
  Staged file(store);
  file.write(10, pattern(20 * kPage, 1));
  file.write(70 * kPage, pattern(3, 2));
  const Child child([&] {  // its memory, the store included, is a copy
    const bool settled = file.staged.staged_bytes() == 0 && store.bytes.size() == 70 * kPage + 3;
    file.write(0, pattern(3 * kPage, 3));
    file.staged.drain();
    const bool written = file.read(0, 3 * kPage) == pattern(3 * kPage, 3) &&
                         std::memcmp(store.bytes.data(), pattern(3 * kPage, 3).data(), 100) == 0;
    return settled && written;
  });
  EXPECT_TRUE(child.ends_well());
  file.write(0, pattern(3, 4));
  file.staged.drain();
  EXPECT_EQ(std::memcmp(store.bytes.data(), pattern(3, 4).data(), 3), 0);
}

TEST_F(Staging, ForksBesideAWriter) {
  SKIP_UNDER_TSAN;
  Store store;
  store.delay = 100us;
  std::atomic<bool> stop{false};
  pattern(1, 0);  // has its noise: a child would wait for a thread that was making it
  std::thread writer([&] {
    Staged file(store);
    for (unsigned i = 0; !stop; ++i) file.write(i % 50 * 3000ULL, pattern(1 + i % 300000, i));
    file.staged.drain();
  });
  for (int i = 0; i < 20; ++i) {
    const Child child([] {
      Store own;
      Staged file(own);
      file.write(1, pattern(300000, 5));
      file.staged.drain();
      return own.bytes.size() == 300001;
    });
    EXPECT_TRUE(child.ends_well());
  }
  stop = true;
  writer.join();
}

}  // namespace
