// Reading ahead, against a model of what a file holds.
#include "engine/read_ahead.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <random>

#include "engine/thread_pool.hpp"
#include "unit/staging_store.hpp"

namespace {

using namespace headrace;
using namespace std::chrono_literals;
using engine::reading::Stream;
using engine::reading::Streams;
using test::Bytes;
using test::kMiB;
using test::Store;

constexpr std::uint64_t kKiB = 1024;
#ifdef __SANITIZE_THREAD__
constexpr unsigned kPrograms = 6;  // it is slow
#else
constexpr unsigned kPrograms = 20;
#endif
constexpr std::chrono::nanoseconds kSlow = 50ms;
constexpr std::chrono::nanoseconds kFast = 1us;

Bytes noise(std::size_t size, unsigned seed) {
  Bytes bytes(size);
  std::mt19937_64 random(seed);
  for (std::size_t at = 0; at < size; at += 8) {
    const std::uint64_t some = random();
    std::memcpy(bytes.data() + at, &some, std::min<std::size_t>(8, size - at));
  }
  return bytes;
}

// Quicker than comparing byte by byte, for the sanitizers.
bool same(const Bytes& a, const Bytes& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size()) == 0;
}

// A store that is slow, can be stopped in reads, and fail in them.
struct Reads {
  std::atomic<bool> slow{true};  // more than engine/read_ahead.cpp takes for fast
  std::atomic<bool> stopped{false};
  std::atomic<int> begun{0};
  std::atomic<int> failing{0};
};

struct ReadDevice final : engine::Device {
  ReadDevice(Store& file, Reads& how) : under(file), reads(how) {}
  void write(std::uint64_t offset, std::span<const std::span<const std::byte>> pieces) override {
    under.write(offset, pieces);
  }
  void read(std::uint64_t offset, std::span<std::byte> bytes) override {
    ++reads.begun;
    while (reads.stopped) std::this_thread::sleep_for(100us);
    int left = reads.failing;
    while (left > 0 && !reads.failing.compare_exchange_weak(left, left - 1)) continue;
    if (left > 0) throw Error("read failed", EIO);
    if (reads.slow)
      std::this_thread::sleep_for(150us + 3 * std::chrono::nanoseconds(bytes.size()) / 2);
    under.read(offset, bytes);
  }
  void sync() override {}
  void resize(std::uint64_t size) override { under.resize(size); }
  test::FakeDevice under;
  Reads& reads;
};

thread_local std::uint64_t ahead_limit = 0;  // of files made from now on

// As the driver does it. Reads below take as long as a test says.
struct File {
  explicit File(Store& file, bool writes = false) : store(file) {
    if (writes)
      staged = std::make_unique<engine::StagedFile>(std::make_unique<ReadDevice>(file, reads),
                                                    file.bytes.size(), test::limits);
    else
      device = std::make_unique<ReadDevice>(file, reads);
    ahead = std::make_unique<engine::ReadAhead>(staged ? staged->device() : *device, staged.get(),
                                                ahead_limit);
  }
  Bytes read(std::uint64_t offset, std::size_t size) {
    Bytes bytes(size, std::byte{0xee});
    if (staged == nullptr) {
      read_below(offset, bytes);
    } else {
      const engine::StagedView view(*staged, offset, size);
      if (!view.whole()) read_below(offset, bytes);
      view.apply(bytes);
    }
    return bytes;
  }
  void write(std::uint64_t offset, const Bytes& bytes) {
    ahead->change(offset, bytes);
    staged->write(offset, bytes);
  }
  void resize(std::uint64_t size) {
    staged->drain();
    ahead->forget(0, ~std::uint64_t{0});
    staged->device().resize(size);
    staged->set_end(size);
  }
  [[nodiscard]] engine::ReadAheadStatistics told() const { return ahead->statistics(); }

  Store& store;
  Reads reads;
  std::chrono::nanoseconds time = kSlow;
  std::uint64_t below = 0;  // bytes
  std::unique_ptr<engine::Device> device;
  std::unique_ptr<engine::StagedFile> staged;
  std::unique_ptr<engine::ReadAhead> ahead;

 private:
  void read_below(std::uint64_t offset, Bytes& bytes) {
    const std::size_t had = ahead->take(offset, bytes);
    const auto left = std::span(bytes).subspan(had);
    if (!left.empty()) test::FakeDevice(store).read(offset + had, left);
    below += left.size();
    std::uint64_t end = 0;
    {
      const std::lock_guard lock(store.mutex);
      end = store.bytes.size();
    }
    ahead->note(offset, bytes.size(), left.size(), time, staged ? staged->end() : end);
  }
};

class ReadingAhead : public testing::Test {
 protected:
  void SetUp() override {
    ahead_limit = 64 * kMiB;
    test::limits = {64 * kMiB, 0s};
  }
  static Bytes part(const Store& store, std::uint64_t offset, std::size_t size) {
    Bytes bytes(size);
    if (offset < store.bytes.size())
      std::memcpy(bytes.data(), store.bytes.data() + offset,
                  std::min<std::size_t>(size, store.bytes.size() - offset));
    return bytes;
  }
  // Reads a range forward; returns how many bytes were read below.
  static std::uint64_t forward(File& file, std::uint64_t from, std::uint64_t to,
                               std::uint64_t size) {
    const std::uint64_t before = file.below;
    for (std::uint64_t at = from; at < to; at += size)
      EXPECT_TRUE(same(file.read(at, size), part(file.store, at, size))) << at;
    return file.below - before;
  }
};

TEST(Streams, KnowsForwardReaders) {
  Streams streams;
  // Four at a time, each with small gaps, and metadata in between.
  std::array<std::uint64_t, 4> at{0, 100 * kMiB, 200 * kMiB, 300 * kMiB};
  std::mt19937 random(1);
  for (unsigned round = 0; round < 20; ++round)
    for (auto& offset : at) {
      const Stream* stream = streams.add(offset, 64 * kKiB).stream;
      EXPECT_EQ(stream != nullptr, round > 0);
      EXPECT_TRUE(stream == nullptr || stream->matches == round);
      offset += 64 * kKiB + random() % (32 * kKiB);
      for (int i = 0; i < 2; ++i) streams.add(kMiB * (1000 + random() % 1000), 512);
    }
}

TEST(Streams, KnowsSteps) {
  Streams streams;
  for (std::uint64_t i = 0; i < 10; ++i) {
    const Stream* stream = streams.add(i * kMiB, 4 * kKiB).stream;
    EXPECT_EQ(stream != nullptr, i >= 2);
    EXPECT_TRUE(stream == nullptr || stream->step == kMiB);
  }
}

TEST(Streams, KnowsReadersWithoutOrder) {
  Streams streams;
  std::mt19937_64 random(1);
  for (unsigned i = 0; i < 1000; ++i)
    EXPECT_EQ(streams.add(random() % (1ULL << 40U), 1 + random() % kMiB).stream, nullptr);
  for (std::uint64_t i = 1000; i-- > 0;)
    EXPECT_EQ(streams.add(i * kMiB, 64 * kKiB).stream, nullptr) << "backward";
}

TEST_F(ReadingAhead, ReadsAllButTheBeginAhead) {
  Store store;
  store.bytes = noise(40 * kMiB + 12345, 1);
  for (const std::uint64_t size : {kMiB, 700 * kKiB + 1, 64 * kKiB, 5 * kMiB}) {
    File file(store);
    forward(file, 0, 41 * kMiB, size);
    EXPECT_EQ(file.told().hits, store.bytes.size() - 4 * size) << size;
    EXPECT_EQ(file.told().bytes, file.told().hits);
  }
}

TEST_F(ReadingAhead, LeavesFastStorageAlone) {
  Store store;
  store.bytes = noise(8 * kMiB, 1);
  File file(store);
  file.time = kFast;
  file.reads.slow = false;
  forward(file, 0, 8 * kMiB, 64 * kKiB);
  EXPECT_EQ(file.reads.begun, 0);
}

TEST_F(ReadingAhead, LeavesReadersWithoutOrderAlone) {
  Store store;
  store.bytes = noise(32 * kMiB, 1);
  File file(store);
  std::mt19937 random(1);
  for (int i = 0; i < 500; ++i) file.read(random() % (31 * kMiB), 1 + random() % (4 * kKiB));
  EXPECT_EQ(file.told().bytes, 0);
  std::vector<std::uint64_t> places(128);
  for (std::uint64_t i = 0; i < places.size(); ++i) places[i] = i * 256 * kKiB;
  for (int i = 0; i < 8; ++i) {
    std::shuffle(places.begin(), places.end(), random);
    for (const std::uint64_t place : places) file.read(place, 256 * kKiB);
  }
  EXPECT_LE(file.told().unused, 8 * kMiB) << "of 256 MiB";
}

TEST_F(ReadingAhead, FollowsStepsAndSeveralReaders) {
  Store store;
  store.bytes = noise(64 * kMiB, 1);
  {
    File file(store);
    for (std::uint64_t at = 0; at < 64 * kMiB; at += kMiB)
      EXPECT_TRUE(same(file.read(at, 64 * kKiB), part(store, at, 64 * kKiB)));
    EXPECT_EQ(file.below, 256 * kKiB);
  }
  File file(store);
  for (std::uint64_t at = 0; at < 16 * kMiB; at += 64 * kKiB)
    for (std::uint64_t reader = 0; reader < 4; ++reader)
      EXPECT_TRUE(same(file.read(reader * 16 * kMiB + at, 64 * kKiB),
                       part(store, reader * 16 * kMiB + at, 64 * kKiB)));
  EXPECT_LE(file.below, 1280 * kKiB);
  EXPECT_EQ(file.told().hits, 64 * kMiB - file.below);
}

TEST_F(ReadingAhead, KeepsWithinItsMemory) {
  Store store;
  store.bytes = noise(32 * kMiB, 1);
  ahead_limit = 2 * kMiB;
  File file(store);
  File other(store);
  for (std::uint64_t at = 0; at < 32 * kMiB; at += 256 * kKiB) {
    EXPECT_TRUE(same(file.read(at, 256 * kKiB), part(store, at, 256 * kKiB)));
    EXPECT_TRUE(same(other.read(at, 256 * kKiB), part(store, at, 256 * kKiB)));
    const auto told = file.told();
    EXPECT_LE(told.bytes - told.hits, 2 * kMiB);
  }
  EXPECT_GT(file.told().hits, 0);
}

// A file whose reader has gone elsewhere does not keep others from reading ahead for ever.
TEST_F(ReadingAhead, TakesMemoryFromReadersThatStopped) {
  Store store;
  store.bytes = noise(32 * kMiB, 1);
  ahead_limit = 4 * kMiB;
  std::vector<std::unique_ptr<File>> files;
  for (int i = 0; i < 6; ++i) {
    files.push_back(std::make_unique<File>(store));
    forward(*files.back(), 0, 8 * kMiB, kMiB);
  }
  std::this_thread::sleep_for(2100ms);
  File file(store);
  forward(file, 0, 16 * kMiB, kMiB);
  EXPECT_GT(file.told().hits, 8 * kMiB);
  for (auto& before : files) forward(*before, 8 * kMiB, 12 * kMiB, kMiB);
}

TEST_F(ReadingAhead, ErrorsAreLeftToTheReader) {
  Store store;
  store.bytes = noise(16 * kMiB, 1);
  File file(store);
  file.reads.failing = 3;
  EXPECT_GE(forward(file, 0, 16 * kMiB, 256 * kKiB), 1024 * kKiB);
  EXPECT_LE(file.reads.failing, 0);
}

TEST_F(ReadingAhead, WrittenBytesAreSeen) {
  Store store;
  store.bytes = noise(32 * kMiB, 1);
  File file(store, true);
  forward(file, 0, 8 * kMiB, kMiB);
  std::this_thread::sleep_for(100ms);  // the next blocks are there
  const Bytes fresh = noise(100, 2);
  // Into what has been read ahead, then into what is about to be, each is written to the file
  // before it is read.
  for (const std::uint64_t at : {8 * kMiB + 5, 9 * kMiB - 50, 20 * kMiB}) {
    file.write(at, fresh);
    if (at < 20 * kMiB) file.staged->drain();
  }
  for (std::uint64_t at = 8 * kMiB; at < 19 * kMiB; at += kMiB) file.read(at, kMiB);
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
  file.reads.stopped = true;  // what follows is half read when its bytes change
  const int begun = file.reads.begun;
  std::thread later([&] {
    std::this_thread::sleep_for(50ms);
    file.reads.stopped = false;
  });
  file.read(8 * kMiB, kMiB);
  while (file.reads.begun == begun) std::this_thread::sleep_for(1ms);
  file.write(9 * kMiB, noise(20 * kMiB, 3));
  later.join();
  file.staged->drain();
  forward(file, 9 * kMiB, 32 * kMiB, kMiB);
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
  for (unsigned seed = 0; seed < kPrograms; ++seed) {
    std::mt19937 random(seed);
    test::limits = {(1U << random() % 6) * kMiB, seed % 2 == 0 ? 2ms : 0ms};
    ahead_limit = (1U << random() % 5) * kMiB;
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
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(60);
    forward(file, 8 * kMiB, 24 * kMiB, kMiB);
    file.ahead.reset();
    ::_exit(HasFailure() ? 1 : 0);
  }
  forward(file, 8 * kMiB, 32 * kMiB, kMiB);
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

// Files of several threads, each ended while blocks of it are being read.
TEST_F(ReadingAhead, EndsWhileBlocksAreRead) {
  Store store;
  store.bytes = noise(16 * kMiB, 1);
  std::vector<std::thread> threads;
  threads.reserve(3);
  for (unsigned i = 0; i < 3; ++i)
    threads.emplace_back([&, i] {
      for (unsigned round = 0; round < 15; ++round) {
        File file(store);
        forward(file, 0, (2 + (i + round) % 5) * kMiB, 256 * kKiB);
      }
    });
  for (auto& thread : threads) thread.join();
}

}  // namespace
