// Chunks that are cached for owners of their own, which keep what is stored in a map.
#include "engine/cache/write_back.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "engine/cache/local_store.hpp"

namespace headrace::engine::cache {
namespace {

constexpr std::size_t kSize = 1000;
constexpr std::size_t kEach = kSize + Room::kBookkeeping;

Buffer chunk_of(int value) {
  Buffer bytes(kSize);
  fill_all(std::array{static_cast<std::byte>(value)}, bytes.bytes());
  return bytes;
}

struct File final : Owner {
  File(Room& room, std::uint64_t number, std::size_t limit) {
    cached_as = {{1, number, 0}, {0, 1}, 0};
    share = room.share(cached_as.file, limit);
  }

  [[nodiscard]] Buffer encode(const DirtyChunk& chunk) const override {
    Buffer encoded(1);
    encoded.data()[0] = chunk.bytes.data()[0];
    return encoded;
  }
  bool store(const DirtyChunk& chunk, const Buffer& encoded) override {
    if (fails) throw Error("nothing can be stored");
    EXPECT_EQ(chunk.origin[0], chunk.key.chunk);
    stored[chunk.key.chunk] = static_cast<int>(encoded.data()[0]);
    if (order != nullptr) order->push_back(chunk.key);
    return keeps;
  }
  void lose(const std::exception_ptr& error) noexcept override { lost += error != nullptr ? 1 : 0; }
  [[nodiscard]] bool encodes_behind() const override { return true; }

  std::map<std::uint64_t, int> stored;  // by chunk
  std::vector<Key>* order = nullptr;    // in which chunks were stored
  bool fails = false;
  bool keeps = true;
  int lost = 0;
};

const WriteBack::OwnerTest kAllOwners = [](const Owner&) { return true; };

struct Cached {
  Room room;
  LocalStore store{room};
  WriteBack cache{store, room};

  DirtyRef insert(File& file, std::uint64_t chunk, int value) {
    return cache.insert(file, chunk, Index{chunk}, chunk_of(value));
  }
  std::optional<int> value(File& file, std::uint64_t chunk) {
    int value = -1;
    const auto note = [&](std::span<const std::byte> bytes) { value = static_cast<int>(bytes[0]); };
    return cache.read(file, chunk, note) ? std::optional(value) : std::nullopt;
  }
};

TEST(WriteBack, what_is_dirty_is_stored_before_it_goes) {
  Cached all;
  File file(all.room, 1, 2 * kEach);
  for (int i = 0; i < 40; ++i) {
    all.insert(file, i, i);
    EXPECT_EQ(all.value(file, i), i);
    EXPECT_LE(all.room.used(), 2 * kEach);
  }
  all.cache.store(kAllOwners);
  EXPECT_TRUE(all.cache.all_stored());
  ASSERT_EQ(file.stored.size(), 40U);
  for (int i = 0; i < 40; ++i) EXPECT_EQ(file.stored[i], i);
  EXPECT_EQ(all.value(file, 39), 39);  // the store has it
  EXPECT_EQ(all.cache.cached(file), 2U);
  all.cache.drop(file);
  EXPECT_EQ(all.room.used(), 0U);
}

TEST(WriteBack, what_is_used_least_recently_goes_first_dirty_or_not) {
  Cached all;
  File file(all.room, 1, 4 * kEach);
  all.cache.keep(file, 0, chunk_of(0));
  all.insert(file, 1, 1);
  all.cache.keep(file, 2, chunk_of(2));
  all.insert(file, 3, 3);
  EXPECT_EQ(all.value(file, 0), 0);
  all.insert(file, 4, 4);  // in place of 1
  EXPECT_EQ(all.cache.cached(file), 4U);
  EXPECT_EQ(file.stored.count(1), 1U);
  EXPECT_EQ(all.value(file, 1), std::nullopt);
  all.cache.store(kAllOwners);
  all.cache.keep(file, 5, chunk_of(5));  // in place of 2
  EXPECT_EQ(all.value(file, 2), std::nullopt);
  all.cache.keep(file, 6, chunk_of(6));  // in place of 3, which is as old as it was when dirty
  EXPECT_EQ(all.value(file, 3), std::nullopt);
  EXPECT_EQ(all.value(file, 0), 0);
  all.cache.drop(file);
}

TEST(WriteBack, stores_those_of_some_owners) {
  Cached all;
  File one(all.room, 1, 10 * kSize);
  File two(all.room, 2, 10 * kSize);
  all.insert(one, 5, 5);
  all.insert(two, 6, 6);
  const auto is_two = [&](const Owner& owner) { return &owner == &two; };
  EXPECT_EQ(all.cache.unstored_bytes(is_two), kSize);
  all.cache.store(is_two);
  EXPECT_EQ(all.cache.unstored_bytes(is_two), 0U);
  EXPECT_EQ(one.unstored(), 1U);
  EXPECT_TRUE(one.stored.empty());
  EXPECT_EQ(two.stored.size(), 1U);
  all.cache.drop(one);  // stores it
  EXPECT_EQ(one.stored.size(), 1U);
  all.cache.drop(two);
}

TEST(WriteBack, stores_in_the_order_of_keys) {
  Cached all;
  std::vector<Key> order;
  std::vector<std::unique_ptr<File>> files;
  for (const std::uint64_t token : {0x0100U, 0x00ffU, 0x1000U}) {
    files.push_back(std::make_unique<File>(all.room, 1, 100 * kEach));
    std::array<unsigned char, 16> bytes{static_cast<unsigned char>(token & 0xffU),
                                        static_cast<unsigned char>(token >> 8U)};
    files.back()->cached_as.token = Token::of(bytes);
    files.back()->order = &order;
  }
  for (const std::uint64_t chunk : {300, 7, 44, 2})
    for (const auto& file : files) all.insert(*file, chunk, 1);
  all.cache.store(kAllOwners);
  ASSERT_EQ(order.size(), 12U);
  EXPECT_TRUE(std::ranges::is_sorted(order));
  EXPECT_EQ(order.front().dataset.token.low, 0x00ffU);  // as addresses
  EXPECT_EQ(order.back().dataset.token.low, 0x1000U);
  for (const auto& file : files) all.cache.drop(*file);
}

TEST(WriteBack, a_chunk_that_is_encoded_may_be_changed_again) {
  Cached all;
  File file(all.room, 1, 10 * kSize);
  const DirtyRef chunk = all.insert(file, 7, 1);
  chunk->passing = true;
  all.cache.store_behind(chunk);
  const DirtyRef again = all.cache.find_to_write(file, 7, Index{7});
  ASSERT_NE(again, nullptr);  // of use again: it does not pass
  again->bytes.data()[0] = std::byte{2};
  all.cache.drop(file);
  EXPECT_EQ(file.stored[7], 2);
}

TEST(WriteBack, a_stored_chunk_is_changed_where_it_is) {
  Cached all;
  File file(all.room, 1, 10 * kSize);
  all.cache.keep(file, 7, chunk_of(1));
  const std::byte* place = nullptr;
  all.cache.read(file, 7, [&](std::span<const std::byte> bytes) { place = bytes.data(); });
  const DirtyRef dirty = all.cache.find_to_write(file, 7, Index{7});
  ASSERT_NE(dirty, nullptr);
  EXPECT_EQ(dirty->bytes.data(), place);
  dirty->bytes.data()[0] = std::byte{2};
  all.cache.keep(file, 7, chunk_of(1));  // what was read of the file before
  EXPECT_EQ(all.value(file, 7), 2);
  all.cache.store(kAllOwners);
  EXPECT_EQ(file.stored[7], 2);
  EXPECT_EQ(all.value(file, 7), 2);
  EXPECT_EQ(all.cache.cached(file), 1U);
  all.cache.drop(file);
}

TEST(WriteBack, one_that_passes_goes_when_it_is_stored) {
  Cached all;
  File file(all.room, 1, 10 * kSize);
  file.keeps = false;
  all.insert(file, 7, 1);
  all.cache.store(kAllOwners);
  EXPECT_EQ(all.value(file, 7), std::nullopt);
  EXPECT_EQ(file.stored.size(), 1U);
}

TEST(WriteBack, what_cannot_be_stored_is_told_and_goes) {
  Cached all;
  File file(all.room, 1, 10 * kSize);
  file.fails = true;
  all.insert(file, 7, 1);
  all.insert(file, 8, 1);
  all.cache.store(kAllOwners);
  EXPECT_EQ(file.lost, 2);
  EXPECT_EQ(file.unstored(), 0U);
  EXPECT_TRUE(all.cache.all_stored());
  EXPECT_EQ(all.value(file, 7), std::nullopt);
  EXPECT_EQ(all.room.used(), 0U);
}

// Has next to nothing, and nothing for long: as one that other processes use.
class Forgetful final : public Store {
 public:
  bool read(const Key& key, Visitor visitor) override {
    if (!holds(key)) return false;
    visitor(std::as_const(bytes_).bytes());
    return random_() % 4 != 0;  // it went meanwhile
  }
  void forget(const Key& key) override {
    if (holds(key)) key_.reset();
  }
  void forget(const DatasetKey& dataset) override {
    if (key_ && key_->dataset == dataset) key_.reset();
  }
  void forget(const io::FileIdentity& file) override {
    if (key_ && key_->dataset.file == file) key_.reset();
  }
  [[nodiscard]] std::size_t count(const DatasetKey& dataset) const override {
    return key_ && key_->dataset == dataset ? 1 : 0;
  }

 private:
  [[nodiscard]] bool holds(const Key& key) const { return key_ == key; }
  std::span<std::byte> begin(const Key& /*key*/, std::size_t bytes) override {
    if (random_() % 4 == 0) return {};
    key_.reset();
    bytes_ = Buffer(bytes);
    return bytes_.bytes();
  }
  void publish(const Key& key) override { key_ = key; }
  void abandon(const Key& /*key*/) noexcept override {}

  std::minstd_rand random_{1};
  std::optional<Key> key_;
  Buffer bytes_;
};

// Writes and reads chunks as async does, and looks each time for what was written last.
// NOLINTNEXTLINE(readability-function-size): one program
void run_random_program(Store& store, Room& room, unsigned seed) {
  constexpr std::uint64_t kChunks = 12;
  WriteBack cache(store, room);
  std::array<File, 2> files{File(room, 1, 5 * kEach), File(room, 2, 3 * kEach)};
  std::array<std::map<std::uint64_t, int>, 2> written;
  std::minstd_rand random(seed);
  for (int round = 0; round < 2000; ++round) {
    const std::size_t which = random() % 2;
    File& file = files.at(which);
    const std::uint64_t chunk = random() % kChunks;
    const int value = static_cast<int>(random() % 250);
    switch (random() % 16) {
      case 0:
        cache.store([&](const Owner& owner) { return &owner == &file; });
        break;
      case 1:
        cache.drop(file);
        EXPECT_EQ(cache.cached(file), 0U);
        break;
      case 2: {  // all of it
        cache.drop(file, chunk);
        const DirtyRef dirty = cache.insert(file, chunk, Index{chunk}, chunk_of(value));
        dirty->passing = true;
        cache.store_behind(dirty);
        written.at(which)[chunk] = value;
        break;
      }
      case 3:
        cache.store_encoded();
        break;
      case 4:
      case 5:
      case 6:
      case 7:
      case 8: {  // a part of it
        DirtyRef dirty = cache.find_to_write(file, chunk, Index{chunk});
        if (dirty == nullptr)
          dirty = cache.insert(file, chunk, Index{chunk}, chunk_of(file.stored[chunk]));
        EXPECT_EQ(static_cast<int>(dirty->bytes.data()[kSize - 1]), written.at(which)[chunk]);
        fill_all(std::array{static_cast<std::byte>(value)}, dirty->bytes.bytes());
        written.at(which)[chunk] = value;
        break;
      }
      default: {
        int seen = -1;
        const auto note = [&](std::span<const std::byte> bytes) {
          seen = static_cast<int>(bytes[0]);
        };
        if (!cache.read(file, chunk, note)) {
          seen = file.stored[chunk];
          cache.keep(file, chunk, chunk_of(seen));
        }
        EXPECT_EQ(seen, written.at(which)[chunk]);
      }
    }
    ASSERT_LE(room.used(), 5 * kEach);
    if (::testing::Test::HasFailure()) return;
  }
  for (std::size_t i = 0; i < files.size(); ++i) {
    cache.drop(files.at(i));
    for (const auto& [chunk, value] : written.at(i)) EXPECT_EQ(files.at(i).stored[chunk], value);
  }
  EXPECT_EQ(room.used(), 0U);
}

TEST(WriteBack, random_programs_over_a_local_store) {
  for (unsigned seed = 1; seed <= 20; ++seed) {
    Room room;
    LocalStore store(room);
    run_random_program(store, room, seed);
    if (HasFailure()) return;
  }
}

TEST(WriteBack, random_programs_over_a_store_that_forgets) {
  for (unsigned seed = 1; seed <= 20; ++seed) {
    Room room;
    Forgetful store;
    run_random_program(store, room, seed);
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace headrace::engine::cache
