// A file that is read ahead as the driver does it, and the fixture of the tests that read it.
#pragma once

#include <gtest/gtest.h>

#include "engine/reading/read_ahead.hpp"
#include "unit/staging/staging_store.hpp"

namespace headrace::test {

constexpr std::chrono::nanoseconds kSlow = 50ms;
constexpr std::chrono::nanoseconds kFast = 1us;

// How far the calling thread's clock is ahead, in nanoseconds: a test need not wait until data is
// old. For programs that replace clock_gettime(), see read_ahead_test.cpp.
inline thread_local std::int64_t clock_ahead = 0;

// A store that is slow, can be stopped in reads, and fail in them.
struct Reads {
  std::atomic<bool> slow{true};  // more than engine/reading/pace.hpp takes for fast
  std::atomic<int> begun{0};
  std::atomic<std::uint64_t> bytes{0};  // that were read
  Gate gate;                            // of reads that have their bytes
  std::atomic<int> failing{0};
};

struct ReadFile final : engine::io::File {
  ReadFile(Store& file, Reads& how) : under(file), reads(how) {}
  void write(std::uint64_t offset, std::span<const std::span<const std::byte>> pieces) override {
    under.write(offset, pieces);
  }
  void read(std::uint64_t offset, std::span<std::byte> bytes) override {
    ++reads.begun;
    int left = reads.failing;
    while (left > 0 && !reads.failing.compare_exchange_weak(left, left - 1)) continue;
    if (left > 0) throw Error("read failed", EIO);
    if (reads.slow)  // takes at least so long, on any machine
      std::this_thread::sleep_for(150us + 3 * std::chrono::nanoseconds(bytes.size()) / 2);
    under.read(offset, bytes);
    reads.bytes += bytes.size();
    reads.gate.pass();
  }
  void sync() override {}
  void resize(std::uint64_t size) override { under.resize(size); }
  FakeFile under;
  Reads& reads;
};

inline thread_local std::uint64_t ahead_limit = 0;  // of files made from now on

// As the driver does it. Reads below take as long as a test says.
struct File {
  explicit File(Store& file, bool writes = false) : store(file) {
    if (writes)
      staged = std::make_unique<engine::StagedFile>(std::make_unique<ReadFile>(file, reads),
                                                    file.bytes.size(), limits);
    else
      storage = std::make_unique<ReadFile>(file, reads);
    ahead = std::make_unique<engine::ReadAhead>(staged ? staged->storage() : *storage, staged.get(),
                                                ahead_limit);
  }
  Bytes read(std::uint64_t offset, std::size_t size) {
    Bytes bytes(size, std::byte{0xee});
    if (staged == nullptr) {
      read_below(offset, bytes);
    } else {
      const engine::StagedView view(*staged, offset, size);
      for (const auto& [begin, missing] : view.missing())
        read_below(begin, std::span(bytes).subspan(begin - offset, missing));
      view.apply(bytes);
    }
    return bytes;
  }
  void write(std::uint64_t offset, const Bytes& bytes) {
    ahead->change(offset, bytes, [&] {
      staged->write(offset, bytes);
      return true;
    });
  }
  void resize(std::uint64_t size) {
    staged->drain();
    ahead->forget(0, ~std::uint64_t{0});
    staged->storage().resize(size);
    staged->set_end(size);
  }
  // Returns when all that is to be read ahead is there. Nothing has failed.
  void settle() {
    wait_until("what was asked for was read", [&] { return reads.bytes == told().bytes; });
    wait_for_rest();
  }
  [[nodiscard]] engine::ReadAheadStatistics told() const { return ahead->statistics(); }

  Store& store;
  Reads reads;
  std::chrono::nanoseconds time = kSlow;
  std::uint64_t below = 0;  // bytes
  std::unique_ptr<engine::io::File> storage;
  std::unique_ptr<engine::StagedFile> staged;
  std::unique_ptr<engine::ReadAhead> ahead;

 private:
  void read_below(std::uint64_t offset, std::span<std::byte> bytes) {
    const std::size_t had = ahead->take(offset, bytes);
    const auto left = bytes.subspan(had);
    if (!left.empty()) FakeFile(store).read(offset + had, left);
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
    limits = {64 * kMiB, 0s};
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
  // Has some read ahead of what was asked for; from then on all writes to the store fail.
  static void read_then_fail(File& file) {
    forward(file, 0, 8 * kMiB, kMiB);
    file.settle();
    file.store.fail_from = file.store.writes.load();
  }
};

}  // namespace headrace::test
