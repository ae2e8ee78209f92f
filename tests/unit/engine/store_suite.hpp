// What each engine::cache::Store does. A store runs it by a fixture of its own that has
//   Store& store();                        empty at first, with room for kChunks chunks of kBytes
//   static constexpr std::size_t kChunks   in files 1 and 2 each
//   static constexpr std::size_t kBytes
// and INSTANTIATE_TYPED_TEST_SUITE_P(Name, StoreSuite, Fixture).
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <functional>
#include <optional>
#include <random>
#include <stdexcept>
#include <thread>
#include <vector>

#include "engine/cache/store.hpp"

namespace headrace::engine::cache {

inline Key key_of(std::uint64_t chunk, std::uint64_t dataset = 1, std::uint64_t file = 1) {
  return {{{1, file, 0}, {0, dataset}, 0}, chunk};
}

inline void fill(std::span<std::byte> bytes, int value) {
  std::ranges::fill(bytes, static_cast<std::byte>(value));
}

inline bool cache_one(Store& store, const Key& key, std::size_t bytes, int value) {
  Claim claim = store.claim(key, bytes);
  if (!claim) return false;
  fill(claim.bytes(), value);
  claim.publish();
  return true;
}

// The value that all bytes of a chunk have; none where it is not cached, -1 where they differ.
inline std::optional<int> value_in(Store& store, const Key& key) {
  int value = -1;
  const bool counts = store.read(key, [&](std::span<const std::byte> bytes) {
    const auto same = std::ranges::count(bytes, bytes.front());
    value = static_cast<std::size_t>(same) == bytes.size() ? static_cast<int>(bytes.front()) : -1;
  });
  return counts ? std::optional(value) : std::nullopt;
}

template <typename Fixture>
class StoreSuite : public ::testing::Test, public Fixture {};
TYPED_TEST_SUITE_P(StoreSuite);

TYPED_TEST_P(StoreSuite, WhatIsPublishedIsRead) {
  Store& store = this->store();
  EXPECT_EQ(value_in(store, key_of(1)), std::nullopt);
  Claim claim = store.claim(key_of(1), this->kBytes);
  ASSERT_TRUE(claim);
  ASSERT_EQ(claim.bytes().size(), this->kBytes);
  fill(claim.bytes(), 7);
  EXPECT_EQ(value_in(store, key_of(1)), std::nullopt);
  EXPECT_FALSE(store.claim(key_of(1), this->kBytes));  // somebody fills it
  claim.publish();
  EXPECT_FALSE(claim);
  EXPECT_EQ(value_in(store, key_of(1)), 7);
  EXPECT_FALSE(store.claim(key_of(1), this->kBytes));  // it is there
  EXPECT_EQ(store.count(key_of(1).dataset), 1U);
}

TYPED_TEST_P(StoreSuite, WhatIsAbandonedCanBeClaimedAgain) {
  Store& store = this->store();
  store.claim(key_of(1), this->kBytes).abandon();
  {
    const Claim lost = store.claim(key_of(1), this->kBytes);
    ASSERT_TRUE(lost);
  }
  EXPECT_EQ(value_in(store, key_of(1)), std::nullopt);
  EXPECT_TRUE(cache_one(store, key_of(1), this->kBytes, 3));
  EXPECT_EQ(value_in(store, key_of(1)), 3);
}

TYPED_TEST_P(StoreSuite, KeysThatDifferAreOfDifferentChunks) {
  Store& store = this->store();
  std::array keys{key_of(1), key_of(2), key_of(1, 2), key_of(1, 1, 2), key_of(1), key_of(1)};
  keys[4].dataset.version = 1;
  keys[5].dataset.token.high = 1;
  static_assert(keys.size() <= TypeParam::kChunks);
  for (std::size_t i = 0; i < keys.size(); ++i)
    EXPECT_TRUE(cache_one(store, keys[i], this->kBytes, static_cast<int>(i)));
  for (std::size_t i = 0; i < keys.size(); ++i)
    EXPECT_EQ(value_in(store, keys[i]), static_cast<int>(i));
}

TYPED_TEST_P(StoreSuite, WhatIsForgottenIsNotFound) {
  Store& store = this->store();
  const std::array keys{key_of(1), key_of(2), key_of(1, 2), key_of(1, 1, 2)};
  const auto cached = [&] {
    std::vector<int> found;
    found.reserve(keys.size());
    for (const Key& key : keys) found.push_back(value_in(store, key).has_value() ? 1 : 0);
    return found;
  };
  const auto again = [&] {
    for (const Key& key : keys) cache_one(store, key, this->kBytes, 1);
  };
  again();
  store.forget(keys[0]);
  EXPECT_EQ(cached(), (std::vector{0, 1, 1, 1}));
  again();
  store.forget(keys[0].dataset);
  EXPECT_EQ(cached(), (std::vector{0, 0, 1, 1}));
  EXPECT_EQ(store.count(keys[0].dataset), 0U);
  again();
  store.forget(keys[0].dataset.file);
  EXPECT_EQ(cached(), (std::vector{0, 0, 0, 1}));
}

// Else it would show what was stored before.
TYPED_TEST_P(StoreSuite, WhatIsForgottenWhileItIsFilledIsNotFound) {
  Store& store = this->store();
  const Key key = key_of(1);
  const std::array<std::function<void()>, 3> ways{[&] { store.forget(key); },
                                                  [&] { store.forget(key.dataset); },
                                                  [&] { store.forget(key.dataset.file); }};
  for (const auto& forget : ways) {
    Claim claim = store.claim(key, this->kBytes);
    ASSERT_TRUE(claim);
    forget();
    fill(claim.bytes(), 1);
    claim.publish();
    EXPECT_EQ(value_in(store, key), std::nullopt);
  }
  EXPECT_TRUE(cache_one(store, key, this->kBytes, 2));
}

TYPED_TEST_P(StoreSuite, PutsAndTakesWholeChunks) {
  Store& store = this->store();
  for (const int value : {1, 2}) {  // the second in place of the first
    Buffer chunk(this->kBytes);
    fill(chunk.bytes(), value);
    EXPECT_TRUE(store.put(key_of(1), chunk, 1));
    EXPECT_EQ(value_in(store, key_of(1)), value);
  }
  const Buffer taken = store.take(key_of(1));
  ASSERT_EQ(taken.size(), this->kBytes);
  EXPECT_EQ(static_cast<int>(taken.data()[0]), 2);
  EXPECT_EQ(value_in(store, key_of(1)), std::nullopt);
  EXPECT_EQ(store.take(key_of(1)).size(), 0U);
}

TYPED_TEST_P(StoreSuite, HasRoomForNewChunksAndNoMoreThanItHas) {
  Store& store = this->store();
  std::size_t cached = 0;
  for (std::uint64_t chunk = 0; chunk < 10 * this->kChunks; ++chunk)
    cached += cache_one(store, key_of(chunk), this->kBytes, 1) ? 1 : 0;
  EXPECT_GE(cached, this->kChunks);
  EXPECT_GE(store.count(key_of(0).dataset), 1U);
  EXPECT_LE(store.count(key_of(0).dataset), this->kChunks);
}

TYPED_TEST_P(StoreSuite, WhatAVisitorThrowsIsThrown) {
  Store& store = this->store();
  ASSERT_TRUE(cache_one(store, key_of(1), this->kBytes, 1));
  const auto fails = [](std::span<const std::byte>) { throw std::runtime_error("seen"); };
  EXPECT_THROW(store.read(key_of(1), fails), std::runtime_error);
  EXPECT_EQ(value_in(store, key_of(1)), 1);
}

// Each chunk's bytes are its number, or that and 100: nobody may ever see anything else.
TYPED_TEST_P(StoreSuite, ThreadsSeeWholeChunksOrNone) {
  constexpr int kRounds = 3000;
  constexpr int kNumbers = 2 * TypeParam::kChunks;
  Store& store = this->store();
  std::atomic<int> wrong = 0;
  std::atomic<int> seen = 0;
  const auto work = [&](unsigned seed) {
    std::minstd_rand random(seed);
    for (int round = 0; round < kRounds; ++round) {
      const int number = static_cast<int>(random() % kNumbers);
      const Key key = key_of(number, 1, 1 + number % 2);
      const auto is_right = [&](int value) { return value == number || value == number + 100; };
      switch (random() % 8) {
        case 0:
          cache_one(store, key, this->kBytes, number);
          break;
        case 1: {
          Buffer chunk(this->kBytes);
          fill(chunk.bytes(), number + 100);
          store.put(key, chunk, random());
          break;
        }
        case 2: {
          const Buffer taken = store.take(key);
          if (taken.size() > 0 && !is_right(static_cast<int>(taken.data()[taken.size() / 2])))
            ++wrong;
          break;
        }
        case 3:
          if (random() % 8 == 0) store.forget(key.dataset);
          store.claim(key, this->kBytes).abandon();
          break;
        default:
          if (const auto value = value_in(store, key)) {
            ++seen;
            if (!is_right(*value)) ++wrong;
          }
      }
    }
  };
  {
    std::vector<std::jthread> threads;
    for (unsigned seed = 1; seed <= 4; ++seed) threads.emplace_back(work, seed);
  }
  EXPECT_EQ(wrong, 0);
  EXPECT_GT(seen, 0);
}

REGISTER_TYPED_TEST_SUITE_P(StoreSuite, WhatIsPublishedIsRead, WhatIsAbandonedCanBeClaimedAgain,
                            KeysThatDifferAreOfDifferentChunks, WhatIsForgottenIsNotFound,
                            WhatIsForgottenWhileItIsFilledIsNotFound, PutsAndTakesWholeChunks,
                            HasRoomForNewChunksAndNoMoreThanItHas, WhatAVisitorThrowsIsThrown,
                            ThreadsSeeWholeChunksOrNone);

}  // namespace headrace::engine::cache
