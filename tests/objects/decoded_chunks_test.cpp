#include "objects/chunks/decoded_chunks.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <memory>
#include <string>
#include <thread>

#include "support/child.hpp"

namespace headrace::objects {
namespace {

constexpr std::size_t kChunk = std::size_t{1} << 20U;
constexpr store::Version kVersion = 5;

void keep(DecodedChunks& chunks, const std::string& key) {
  chunks.keep(key, {std::make_shared<engine::Buffer>(kChunk), 0, kVersion, 0});
}

std::size_t count(DecodedChunks& chunks, const std::string& prefix, std::size_t of) {
  std::size_t found = 0;
  for (std::size_t i = 0; i < of; ++i)
    if (chunks.find(prefix + std::to_string(i), kVersion)) ++found;
  return found;
}

TEST(DecodedChunks, are_those_of_the_version_that_is_stored) {
  DecodedChunks chunks;
  keep(chunks, "a");
  EXPECT_TRUE(chunks.find("a", kVersion));
  EXPECT_FALSE(chunks.find("a", kVersion + 1));
  EXPECT_FALSE(chunks.find("b", kVersion));
  chunks.clear();
  EXPECT_FALSE(chunks.has("a"));
}

TEST(DecodedChunks, of_all_datasets_are_bounded_together_and_grow_for_what_is_read_again) {
  std::array<DecodedChunks, 2> both;
  const std::size_t most = DecodedChunks::most_bytes() / kChunk;
  const auto read = [&](DecodedChunks& chunks, const std::string& prefix, std::size_t of) {
    for (std::size_t i = 0; i < of; ++i)
      if (const std::string key = prefix + std::to_string(i); !chunks.find(key, kVersion))
        keep(chunks, key);
  };
  read(both[0], "once", 1000);
  EXPECT_EQ(count(both[0], "once", 1000), 8U);
  read(both[1], "other", 4);
  EXPECT_EQ(count(both[0], "once", 1000), 4U);
  EXPECT_EQ(count(both[1], "other", 4), 4U);
  for (int i = 0; i < 20; ++i) read(both[1], "again", most / 2);
  EXPECT_EQ(count(both[1], "again", most / 2), most / 2);
  for (int i = 0; i < 20; ++i) read(both[0], "more", 2 * most);
  EXPECT_LE(count(both[0], "more", 2 * most) + count(both[1], "again", most / 2), most);
}

// Whatever another thread was at.
TEST(DecodedChunks, of_a_child_are_its_own) {
  DecodedChunks chunks;
  keep(chunks, "a");
  std::atomic<bool> is_over = false;
  std::thread other([&] {
    DecodedChunks others;
    for (unsigned i = 0; !is_over; i = (i + 1) % 4) {
      others.keep(std::to_string(i), {std::make_shared<engine::Buffer>(1), 0, kVersion, 0});
      others.find("0", kVersion);
    }
  });
  bool all_end_well = true;
  for (int i = 0; i < 50 && all_end_well; ++i) {
    const test::Child child([&] {
      const bool was_there = chunks.has("a");
      keep(chunks, "b");
      return !was_there && chunks.find("b", kVersion);
    });
    all_end_well = child.ends_well();
  }
  is_over = true;
  other.join();
  EXPECT_TRUE(all_end_well);
  EXPECT_TRUE(chunks.find("a", kVersion));
  EXPECT_FALSE(chunks.has("b"));
}

}  // namespace
}  // namespace headrace::objects
