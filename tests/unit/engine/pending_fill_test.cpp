// Pending fill values against an array in which they were written at once.
#include "engine/pending_fill.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <stdexcept>
#include <vector>

namespace headrace::engine {
namespace {

using Bytes = std::vector<std::byte>;

Bytes bytes_of(std::initializer_list<int> numbers) {
  Bytes bytes;
  for (const int number : numbers) bytes.push_back(static_cast<std::byte>(number));
  return bytes;
}

TEST(PendingFill, SeesWhatRepeats) {
  const Bytes value = bytes_of({1, 2, 3});
  EXPECT_TRUE(repeats(bytes_of({1, 2, 3}), value));
  EXPECT_TRUE(repeats(bytes_of({1, 2, 3, 1, 2, 3, 1}), value));
  EXPECT_FALSE(repeats(bytes_of({1, 2, 3, 1, 2, 4}), value));
  EXPECT_FALSE(repeats(bytes_of({2, 3, 1, 2, 3, 1}), value));
  EXPECT_FALSE(repeats(bytes_of({1, 2}), value));
  EXPECT_FALSE(repeats(bytes_of({1, 2}), {}));
}

TEST(PendingFill, KeepsWhatCouldNotBeWritten) {
  PendingFill pending;
  pending.add(0, 10, bytes_of({7}));
  pending.add(20, 10, bytes_of({8}));
  std::uint64_t written = 0;
  const auto write = [&](std::uint64_t offset, std::span<const std::byte> bytes) {
    if (offset == 20) throw std::runtime_error("full");
    written += bytes.size();
  };
  EXPECT_THROW(pending.write_all(write), std::runtime_error);
  EXPECT_EQ(written, 10U);
  EXPECT_EQ(pending.end(), 30U);
  Bytes read(4);
  pending.put(18, read);
  EXPECT_EQ(read, bytes_of({0, 0, 8, 8}));
}

TEST(PendingFill, WritesMoreThanABlock) {
  PendingFill pending;
  const Bytes value = bytes_of({1, 2, 3, 4, 5});
  const std::uint64_t length = 5 * ((std::uint64_t{3} << 20U) / 5);
  pending.add(5, length, value);
  pending.remove(0, 7);
  Bytes file(5 + length);
  pending.write_all([&](std::uint64_t offset, std::span<const std::byte> bytes) {
    std::ranges::copy(bytes, file.begin() + static_cast<std::ptrdiff_t>(offset));
  });
  EXPECT_TRUE(pending.empty());
  EXPECT_TRUE(repeats(std::span(file).subspan(10), value));
  EXPECT_EQ(file[6], std::byte{0});
  EXPECT_EQ(file[7], std::byte{3});
}

TEST(PendingFill, IsAsIfWrittenAtOnce) {
  constexpr std::uint64_t kSize = 200;
  std::mt19937 random(3);
  const auto below = [&](std::uint64_t end) {
    return std::uniform_int_distribution<std::uint64_t>(0, end - 1)(random);
  };
  for (int round = 0; round < 300; ++round) {
    PendingFill pending;
    Bytes below_it(kSize);
    Bytes wanted(kSize);
    for (int step = 0; step < 40; ++step) {
      const std::uint64_t offset = below(kSize);
      const std::uint64_t length = 1 + below(kSize - offset);
      const auto at = static_cast<std::ptrdiff_t>(offset);
      const auto write = [&](std::uint64_t to, std::span<const std::byte> bytes) {
        std::ranges::copy(bytes, below_it.begin() + static_cast<std::ptrdiff_t>(to));
      };
      if (const std::uint64_t what = below(5); what == 0) {
        pending.write_range(offset, length, write);
        EXPECT_TRUE(std::equal(below_it.begin() + at,
                               below_it.begin() + at + static_cast<std::ptrdiff_t>(length),
                               wanted.begin() + at));
      } else if (what < 3) {
        Bytes value(1 + below(4));
        for (auto& each : value) each = static_cast<std::byte>(1 + below(3));
        pending.add(offset, length, value);
        for (std::uint64_t i = 0; i < length; ++i) wanted[offset + i] = value[i % value.size()];
      } else {
        const auto byte = static_cast<std::byte>(100 + below(100));
        pending.remove(offset, length);
        for (Bytes* each : {&below_it, &wanted}) std::fill_n(each->begin() + at, length, byte);
      }
      Bytes read(below_it.begin() + at,
                 below_it.begin() + at + static_cast<std::ptrdiff_t>(length));
      pending.put(offset, read);
      EXPECT_TRUE(std::equal(read.begin(), read.end(), wanted.begin() + at));
    }
    pending.write_all([&](std::uint64_t offset, std::span<const std::byte> bytes) {
      std::ranges::copy(bytes, below_it.begin() + static_cast<std::ptrdiff_t>(offset));
    });
    EXPECT_EQ(below_it, wanted);
  }
}

}  // namespace
}  // namespace headrace::engine
