#include "engine/cache/local_store.hpp"

#include "unit/engine/store_suite.hpp"

namespace headrace::engine::cache {
namespace {

constexpr std::size_t kBytes = 1000;
constexpr std::size_t kCost = kBytes + Room::kBookkeeping;

struct LocalFixture {
  static constexpr std::size_t kChunks = 12;
  static constexpr std::size_t kBytes = 1000;
  Store& store() { return local; }

  Room room;
  std::shared_ptr<const Share> one = room.share({1, 1, 0}, kChunks* kCost);
  std::shared_ptr<const Share> two = room.share({1, 2, 0}, kChunks* kCost);
  LocalStore local{room};
};
INSTANTIATE_TYPED_TEST_SUITE_P(Local, StoreSuite, LocalFixture);

TEST(LocalStore, the_least_recently_used_go_first) {
  Room room;
  const auto share = room.share({1, 1, 0}, 4 * kCost);
  LocalStore store(room);
  for (int i = 0; i < 4; ++i) cache_one(store, key_of(i), kBytes, i);
  EXPECT_EQ(value_in(store, key_of(0)), 0);
  cache_one(store, key_of(4), kBytes, 4);
  EXPECT_EQ(value_in(store, key_of(1)), std::nullopt);
  EXPECT_EQ(value_in(store, key_of(0)), 0);
  EXPECT_EQ(value_in(store, key_of(4)), 4);
  EXPECT_EQ(room.used(), 4 * kCost);
  store.forget(share->file);
  EXPECT_EQ(room.used(), 0U);
}

// Two files have no more than the larger limit in all.
TEST(LocalStore, files_make_room_for_each_other) {
  Room room;
  const auto large = room.share({1, 1, 0}, 4 * kCost);
  const auto small = room.share({1, 2, 0}, 2 * kCost);
  LocalStore store(room);
  for (int i = 0; i < 4; ++i) cache_one(store, key_of(i), kBytes, i);
  for (int i = 0; i < 3; ++i) cache_one(store, key_of(i, 1, 2), kBytes, 10 + i);
  EXPECT_EQ(value_in(store, key_of(0, 1, 2)), std::nullopt);  // beyond its own limit
  EXPECT_EQ(value_in(store, key_of(2, 1, 2)), 12);
  EXPECT_EQ(value_in(store, key_of(1)), std::nullopt);
  EXPECT_EQ(value_in(store, key_of(3)), 3);
}

TEST(LocalStore, a_file_has_the_largest_of_its_shares) {
  Room room;
  LocalStore store(room);
  EXPECT_FALSE(store.claim(key_of(0), kBytes));  // none
  const auto two = room.share({1, 1, 0}, 2 * kCost);
  auto three = room.share({1, 1, 0}, 3 * kCost);
  for (int i = 0; i < 9; ++i) cache_one(store, key_of(i), kBytes, i);
  EXPECT_EQ(store.count(key_of(0).dataset), 3U);
  three.reset();
  cache_one(store, key_of(9), kBytes, 9);
  EXPECT_EQ(store.count(key_of(0).dataset), 2U);
  EXPECT_EQ(value_in(store, key_of(9)), 9);
}

TEST(LocalStore, one_chunk_has_room_whatever_it_takes) {
  Room room;
  const auto share = room.share({1, 1, 0}, 10);
  LocalStore store(room);
  EXPECT_TRUE(cache_one(store, key_of(0), kBytes, 0));
  EXPECT_TRUE(cache_one(store, key_of(1), kBytes, 1));
  EXPECT_EQ(value_in(store, key_of(0)), std::nullopt);
  EXPECT_EQ(value_in(store, key_of(1)), 1);
}

TEST(LocalStore, what_is_filled_takes_room) {
  Room room;
  const auto share = room.share({1, 1, 0}, 2 * kCost);
  LocalStore store(room);
  cache_one(store, key_of(0), kBytes, 0);
  const Claim first = store.claim(key_of(1), kBytes);
  const Claim second = store.claim(key_of(2), kBytes);  // in place of what is there
  EXPECT_TRUE(first && second);
  EXPECT_EQ(value_in(store, key_of(0)), std::nullopt);
  EXPECT_FALSE(store.claim(key_of(3), kBytes));
  EXPECT_EQ(room.used(), 2 * kCost);
}

// What comes back is as old as it was.
TEST(LocalStore, evicts_what_is_old_enough) {
  Room room;
  const auto share = room.share({1, 1, 0}, 9 * kCost);
  LocalStore store(room);
  for (const std::uint64_t used : {1000, 4000, 2000, 3000, 5000}) {
    Buffer chunk(kBytes);
    ASSERT_TRUE(store.put(key_of(used), chunk, used));
  }
  EXPECT_FALSE(store.evict(&share->file, 1000));
  for (const std::uint64_t used : {1000, 2000, 3000, 4000}) {
    EXPECT_EQ(store.count(key_of(0).dataset), 6 - used / 1000);
    EXPECT_TRUE(store.evict(nullptr, 5000));
    EXPECT_EQ(store.take(key_of(used)).size(), 0U);
  }
  EXPECT_FALSE(store.evict(nullptr, 5000));
  const io::FileIdentity other{1, 2, 0};
  EXPECT_FALSE(store.evict(&other, 9000));
}

TEST(LocalStore, copies_only_what_is_looked_at) {
  Room room;
  const auto share = room.share({1, 1, 0}, 9 * kCost);
  LocalStore store(room);
  Buffer chunk(kBytes);
  const std::byte* const place = chunk.data();
  store.put(key_of(1), chunk, 1);
  store.read(key_of(1), [&](std::span<const std::byte> seen) {
    EXPECT_EQ(seen.data(), place);
    fill(chunk.bytes(), 1);
    chunk = store.take(key_of(1));
    fill(chunk.bytes(), 2);
    EXPECT_NE(chunk.data(), place);
    EXPECT_NE(seen.front(), chunk.data()[0]);
  });
  const std::byte* const own = chunk.data();
  store.put(key_of(1), chunk, 1);
  EXPECT_EQ(chunk.size(), 0U);
  EXPECT_EQ(store.take(key_of(1)).data(), own);
}

}  // namespace
}  // namespace headrace::engine::cache
