// Chunks that are cached for owners of their own, which keep what is stored in a map.
#include "engine/chunk_cache.hpp"

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "base/error.hpp"

namespace headrace::engine {
namespace {

constexpr std::size_t kBytes = 1000;

struct Store final : ChunkOwner {
  Store(ChunkCache& cache, std::uint64_t number, std::size_t limit) {
    serial = number;
    share = cache.make_share(limit);
  }

  [[nodiscard]] Buffer encode(const CachedChunk& chunk) const override {
    Buffer encoded(1);
    encoded.data()[0] = chunk.bytes.data()[0];
    return encoded;
  }
  bool store(const CachedChunk& chunk, const Buffer& encoded) override {
    if (fails) throw Error("nothing can be stored");
    stored[chunk.place] = encoded.data()[0];
    return keeps;
  }
  void lose(const std::exception_ptr& error) noexcept override { lost += error != nullptr ? 1 : 0; }
  [[nodiscard]] bool encodes_behind() const override { return true; }

  std::map<std::uint64_t, std::byte> stored;  // by place
  bool fails = false;
  bool keeps = true;
  int lost = 0;
};

ChunkRef insert(ChunkCache& cache, Store& store, std::uint64_t place, int value) {
  Buffer bytes(kBytes);
  fill_all(std::array{static_cast<std::byte>(value)}, bytes.bytes());
  const auto chunk = std::make_shared<CachedChunk>(store, place, Index{place}, std::move(bytes));
  cache.insert(chunk);
  return chunk;
}

// What the cache has of a chunk.
std::optional<int> value(ChunkCache& cache, Store& store, std::uint64_t place) {
  const ChunkRef chunk = cache.find(store, place);
  if (chunk == nullptr) return std::nullopt;
  return static_cast<int>(chunk->bytes.data()[0]);
}

TEST(ChunkCache, the_least_recently_used_go_first) {
  ChunkCache cache;
  Store store(cache, 1, 4 * (kBytes + 512));
  for (int i = 0; i < 4; ++i) insert(cache, store, i, i);
  EXPECT_EQ(value(cache, store, 0), 0);
  insert(cache, store, 4, 4);
  EXPECT_EQ(value(cache, store, 1), std::nullopt);
  EXPECT_EQ(value(cache, store, 0), 0);
  EXPECT_EQ(value(cache, store, 4), 4);
  EXPECT_TRUE(store.stored.empty());  // none was dirty
  cache.drop(store);
}

// The shares of two files have no more than the larger limit in all.
TEST(ChunkCache, shares_make_room_for_each_other) {
  ChunkCache cache;
  Store large(cache, 1, 4 * (kBytes + 512));
  Store small(cache, 2, 2 * (kBytes + 512));
  for (int i = 0; i < 4; ++i) insert(cache, large, i, i);
  for (int i = 0; i < 3; ++i) insert(cache, small, i, 10 + i);
  EXPECT_EQ(value(cache, small, 0), std::nullopt);  // beyond its own limit
  EXPECT_EQ(value(cache, small, 2), 12);
  EXPECT_EQ(value(cache, large, 1), std::nullopt);
  EXPECT_EQ(value(cache, large, 3), 3);
  cache.drop(large);
  cache.drop(small);
}

TEST(ChunkCache, what_is_dirty_is_stored_before_it_goes) {
  ChunkCache cache;
  Store store(cache, 1, 2 * (kBytes + 512));
  for (int i = 0; i < 40; ++i) cache.mark_dirty(insert(cache, store, i, i));
  cache.store([](const ChunkOwner&) { return true; });
  EXPECT_TRUE(cache.all_stored());
  ASSERT_EQ(store.stored.size(), 40U);
  for (int i = 0; i < 40; ++i) EXPECT_EQ(static_cast<int>(store.stored[i]), i);
  cache.drop(store);
}

TEST(ChunkCache, stores_those_of_some_owners) {
  ChunkCache cache;
  Store one(cache, 1, 10 * kBytes);
  Store two(cache, 2, 10 * kBytes);
  cache.mark_dirty(insert(cache, one, 5, 5));
  cache.mark_dirty(insert(cache, two, 6, 6));
  const auto is_two = [](const ChunkOwner& owner) { return owner.serial == 2; };
  EXPECT_EQ(cache.unstored_bytes(is_two), kBytes);
  cache.store(is_two);
  EXPECT_EQ(cache.unstored_bytes(is_two), 0U);
  EXPECT_EQ(one.unstored(), 1U);
  EXPECT_TRUE(one.stored.empty());
  EXPECT_EQ(two.stored.size(), 1U);
  cache.drop(one);  // stores it
  EXPECT_EQ(one.stored.size(), 1U);
  cache.drop(two);
}

TEST(ChunkCache, a_chunk_that_is_encoded_may_be_changed_again) {
  ChunkCache cache;
  Store store(cache, 1, 10 * kBytes);
  const ChunkRef chunk = insert(cache, store, 7, 1);
  chunk->passing = true;
  cache.store_behind(chunk);
  const ChunkRef again = cache.find_to_write(store, 7);
  ASSERT_NE(again, nullptr);  // of use again: it does not pass
  again->bytes.data()[0] = std::byte{2};
  cache.mark_dirty(again);
  cache.drop(store);
  EXPECT_EQ(static_cast<int>(store.stored[7]), 2);
}

TEST(ChunkCache, one_that_passes_goes_when_it_is_stored) {
  ChunkCache cache;
  Store store(cache, 1, 10 * kBytes);
  store.keeps = false;
  cache.mark_dirty(insert(cache, store, 7, 1));
  cache.store([](const ChunkOwner&) { return true; });
  EXPECT_EQ(value(cache, store, 7), std::nullopt);
  EXPECT_EQ(store.stored.size(), 1U);
}

TEST(ChunkCache, what_cannot_be_stored_is_told_and_goes) {
  ChunkCache cache;
  Store store(cache, 1, 10 * kBytes);
  store.fails = true;
  cache.mark_dirty(insert(cache, store, 7, 1));
  cache.mark_dirty(insert(cache, store, 8, 1));
  cache.store([](const ChunkOwner&) { return true; });
  EXPECT_EQ(store.lost, 2);
  EXPECT_EQ(store.unstored(), 0U);
  EXPECT_TRUE(cache.all_stored());
  EXPECT_EQ(value(cache, store, 7), std::nullopt);
}

}  // namespace
}  // namespace headrace::engine
