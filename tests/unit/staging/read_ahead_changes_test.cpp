// Reading ahead in a file that changes, over forks and in threads.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>
#include <thread>
#include <vector>

#include "support/child.hpp"
#include "support/rounds.hpp"
#include "unit/staging/read_ahead_file.hpp"

namespace {

using namespace headrace;
using namespace std::chrono_literals;
using test::Bytes;
using test::Child;
using test::File;
using test::kMiB;
using test::noise;
using test::ReadingAhead;
using test::rounds;
using test::same;
using test::Store;
using test::wait_until;

constexpr std::uint64_t kKiB = 1024;

TEST_F(ReadingAhead, WrittenBytesAreSeen) {
  Store store;
  store.bytes = noise(32 * kMiB, 1);
  File file(store, true);
  forward(file, 0, 8 * kMiB, kMiB);
  file.settle();
  const Bytes fresh = noise(100, 2);
  // Into what has been read ahead, then into what is about to be, each is written to the file
  // before it is read.
  for (const std::uint64_t at : {8 * kMiB + 5, 9 * kMiB - 50, 20 * kMiB}) {
    file.write(at, fresh);
    if (at < 20 * kMiB) file.staged->drain();
  }
  forward(file, 8 * kMiB, 19 * kMiB, kMiB);
  file.staged->drain();
  EXPECT_TRUE(same(file.read(20 * kMiB, 100), fresh));
  forward(file, 0, 32 * kMiB, kMiB);
}

// As HDF5 does it for one member of a compound.
TEST_F(ReadingAhead, GoesOnUnderAReaderThatWritesBack) {
  Store store;
  store.bytes = noise(kMiB, 1);
  Bytes expected = store.bytes;
  File file(store, true);
  const Bytes fresh = noise(8, 2);
  for (std::uint64_t at = 0; at < kMiB; at += 16) {
    EXPECT_TRUE(same(file.read(at, 16), Bytes(expected.begin() + static_cast<long>(at),
                                              expected.begin() + static_cast<long>(at) + 16)));
    file.write(at, fresh);
    std::ranges::copy(fresh, expected.begin() + static_cast<long>(at));
    EXPECT_TRUE(same(file.read(at, 8), fresh));
  }
  EXPECT_GT(file.told().hits, kMiB * 3 / 4);
  file.staged->drain();
  EXPECT_TRUE(same(store.bytes, expected));
}

TEST_F(ReadingAhead, WhatIsBeingReadIsForgottenToo) {
  Store store;
  store.bytes = noise(32 * kMiB, 1);
  File file(store, true);
  forward(file, 0, 8 * kMiB, kMiB);
  file.settle();
  file.reads.gate.close();  // what follows is half read when its bytes change
  const std::uint64_t before = file.reads.bytes;
  file.read(8 * kMiB, kMiB);
  wait_until("old bytes were read", [&] { return file.reads.bytes > before; });
  file.write(9 * kMiB, noise(20 * kMiB, 3));
  file.reads.gate.open();
  file.staged->drain();
  forward(file, 9 * kMiB, 32 * kMiB, kMiB);
}

// Written directly, as a budget that failed pages have used up leaves nothing to stage it in: what
// the file has then is not what the program wanted to write.
TEST_F(ReadingAhead, WhatFailedToBeWrittenIsForgotten) {
  test::limits = {kMiB, 0s};
  Store store;
  store.bytes = noise(32 * kMiB, 1);
  File file(store, true);
  read_then_fail(file);
  const auto is_told = [&](std::uint64_t at) {
    try {
      file.write(at, noise(100, 2));
      return false;
    } catch (const Error&) {
      return true;
    }
  };
  for (std::uint64_t at = 20 * kMiB; at < 30 * kMiB && !is_told(at);) at += test::kPage;
  ASSERT_TRUE(is_told(9 * kMiB));
  ASSERT_TRUE(is_told(10 * kMiB + 5));
  forward(file, 8 * kMiB, 12 * kMiB, kMiB);
}

// Lent bytes that the file does not get are told to their lender, and gone.
TEST_F(ReadingAhead, LentBytesThatFailAreForgotten) {
  Store store;
  store.bytes = noise(32 * kMiB, 1);
  File file(store, true);
  read_then_fail(file);
  const Bytes bytes = noise(4 * test::kPage, 2);
  std::shared_ptr<engine::Completion> completion;
  {
    const engine::Lending lending(bytes);
    file.write(9 * kMiB, bytes);
    completion = lending.completion();
  }
  ASSERT_NE(completion, nullptr);
  EXPECT_TRUE(completion->wait(std::chrono::nanoseconds::max()));
  EXPECT_NE(completion->error(), nullptr);
  forward(file, 8 * kMiB, 12 * kMiB, kMiB);
}

TEST_F(ReadingAhead, TheEndMoves) {
  Store store;
  store.bytes = noise(16 * kMiB, 1);
  File file(store, true);
  forward(file, 0, 8 * kMiB, kMiB);
  file.resize(9 * kMiB);
  file.resize(16 * kMiB);
  forward(file, 8 * kMiB, 17 * kMiB, kMiB);
}

TEST_F(ReadingAhead, RandomPrograms) {
  for (unsigned seed = 0; seed < rounds(20); ++seed) {
    std::mt19937 random(seed);
    test::limits = {(1U << random() % 6) * kMiB, seed % 2 == 0 ? 2ms : 0ms};
    test::ahead_limit = (1U << random() % 5) * kMiB;
    Store store;
    store.bytes = noise(random() % (3 * kMiB), seed);
    store.delay = std::chrono::microseconds(seed % 4 * 150);
    Bytes model = store.bytes;
    File file(store, true);
    std::array<std::uint64_t, 4> readers{};
    const std::size_t usual = 1 + random() % (100 * kKiB);
    for (int step = 0; step < 200; ++step) {
      const unsigned what = random() % 40;
      const std::uint64_t place = random() % (3 * kMiB);
      if (what < 6) {
        const Bytes bytes = noise(1 + random() % (what == 0 ? 400 * kKiB : 5 * kKiB), seed + step);
        if (model.size() < place + bytes.size()) model.resize(place + bytes.size());
        std::memcpy(model.data() + place, bytes.data(), bytes.size());
        file.write(place, bytes);
      } else if (what == 6) {
        file.staged->drain();
      } else if (what == 7) {
        file.resize(place);
        model.resize(place);
      } else if (what == 8) {
        file.reads.failing = 1;
      } else {
        std::uint64_t& at = readers.at(what % readers.size());
        if (random() % 50 == 0 || at > model.size()) at = place;
        const std::size_t size = random() % 8 == 0 ? 1 + random() % (200 * kKiB) : usual;
        Bytes expected(size);
        if (at < model.size())
          std::memcpy(expected.data(), model.data() + at,
                      std::min<std::size_t>(size, model.size() - at));
        ASSERT_TRUE(same(file.read(at, size), expected)) << "seed " << seed << " step " << step;
        at += size + (what % 4 == 0 ? 3 * usual : 0);
      }
    }
  }
}

TEST_F(ReadingAhead, ForkWhileBlocksAreRead) {
#ifdef __SANITIZE_THREAD__
  GTEST_SKIP() << "a child under tsan cannot start threads";
#endif
  Store store;
  store.bytes = noise(32 * kMiB, 1);
  File file(store);
  forward(file, 0, 8 * kMiB, kMiB);
  const Child child([&] {
    forward(file, 8 * kMiB, 24 * kMiB, kMiB);
    file.ahead.reset();
    return !HasFailure();
  });
  forward(file, 8 * kMiB, 32 * kMiB, kMiB);
  EXPECT_TRUE(child.ends_well());
}

// Files of several threads, each ended while blocks of it are being read.
TEST_F(ReadingAhead, EndsWhileBlocksAreRead) {
  Store store;
  store.bytes = noise(16 * kMiB, 1);
  std::vector<std::thread> threads;
  threads.reserve(3);
  for (unsigned i = 0; i < 3; ++i)
    threads.emplace_back([&, i] {
      for (unsigned round = 0; round < rounds(15); ++round) {
        File file(store);
        forward(file, 0, (2 + (i + round) % 5) * kMiB, 256 * kKiB);
      }
    });
  for (auto& thread : threads) thread.join();
}

}  // namespace
