#include "engine/stripes.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <latch>
#include <random>

#include "base/error.hpp"

namespace headrace::engine {
namespace {

// Bytes in memory, as long as what was written to them.
class Memory final : public io::File {
 public:
  void write(std::uint64_t offset, std::span<const std::span<const std::byte>> pieces) override {
    if (met != nullptr) met->arrive_and_wait();
    if (broken) throw Error("broken", 5);
    for (const auto piece : pieces) {
      bytes.resize(std::max<std::size_t>(bytes.size(), offset + piece.size()));
      std::ranges::copy(piece, bytes.begin() + static_cast<std::ptrdiff_t>(offset));
      offset += piece.size();
    }
    ++writes;
  }
  void read(std::uint64_t offset, std::span<std::byte> into) override {
    ++reads;
    for (std::byte& one : into) one = offset < bytes.size() ? bytes[offset++] : std::byte{0};
  }
  void read_pieces(std::uint64_t offset, std::span<const std::span<std::byte>> pieces) override {
    const int before = reads;
    io::File::read_pieces(offset, pieces);
    reads = before + 1;
  }
  void sync() override { ++syncs; }
  void resize(std::uint64_t size) override { bytes.resize(size); }

  std::vector<std::byte> bytes;
  bool broken = false;
  std::latch* met = nullptr;  // of writes that must be made at the same time
  int writes = 0;
  int reads = 0;  // of one piece or several
  int syncs = 0;
};

struct Set {
  explicit Set(StripeLayout as, bool on_workers = false)
      : layout(as),
        subfiles(as.count),
        whole(as, [this](auto number) -> io::File& { return subfiles[number]; }, on_workers) {}
  [[nodiscard]] std::vector<std::uint64_t> sizes() const {
    std::vector<std::uint64_t> found;
    found.reserve(subfiles.size());
    for (const Memory& one : subfiles) found.push_back(one.bytes.size());
    return found;
  }
  StripeLayout layout;
  std::vector<Memory> subfiles;
  FileOfSubfiles whole;
};

std::vector<std::byte> some_bytes(std::mt19937& random, std::size_t count) {
  std::vector<std::byte> bytes(count);
  for (std::byte& one : bytes) one = static_cast<std::byte>(random());
  return bytes;
}

TEST(Stripes, EachByteHasItsPlace) {
  Set set({10, 3});
  std::vector<std::byte> bytes(95);
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(i);
  const std::span<const std::byte> piece = bytes;
  set.whole.write(0, {&piece, 1});
  for (std::size_t i = 0; i < bytes.size(); ++i)
    EXPECT_EQ(set.subfiles[i / 10 % 3].bytes[i / 30 * 10 + i % 10], bytes[i]) << i;
  std::vector<std::byte> back(bytes.size());
  set.whole.read(0, back);
  EXPECT_EQ(back, bytes);
  for (const Memory& one : set.subfiles) {
    EXPECT_EQ(one.writes, 1) << "one write for each subfile";
    EXPECT_EQ(one.reads, 1) << "one read for each subfile";
  }
}

TEST(Stripes, AgreesWithOneFile) {
  std::mt19937 random(11);  // NOLINT(cert-msc32-c,cert-msc51-cpp): the same cases each time
  const auto upto = [&](std::uint64_t most) { return random() % most + 1; };
  for (unsigned round = 0; round < 300; ++round) {
    Set set({upto(20), static_cast<std::uint32_t>(upto(5))});
    Memory one;
    for (unsigned step = 0; step < 20; ++step) {
      const std::uint64_t at = random() % 300;
      const auto first = some_bytes(random, random() % 60);
      const auto second = some_bytes(random, random() % 60);
      const std::array<std::span<const std::byte>, 2> pieces{first, second};
      set.whole.write(at, pieces);
      one.write(at, pieces);
      const std::uint64_t from = random() % 400;
      std::vector<std::byte> here(random() % 200);
      std::vector<std::byte> there(here.size());
      set.whole.read(from, here);
      one.read(from, there);
      EXPECT_EQ(here, there);
      if (upto(5) == 1) {
        const std::uint64_t size = random() % 400;
        set.whole.resize(size);
        one.resize(size);
        EXPECT_EQ(set.layout.whole_size(set.sizes()), size);
      }
    }
  }
}

TEST(Stripes, SizesAreInverse) {
  for (std::uint64_t stripe = 1; stripe < 8; ++stripe)
    for (std::uint32_t count = 1; count < 6; ++count)
      for (std::uint64_t whole = 0; whole < 100; ++whole) {
        const StripeLayout layout{stripe, count};
        std::vector<std::uint64_t> sizes;
        std::uint64_t sum = 0;
        for (std::uint32_t number = 0; number < count; ++number)
          sum += sizes.emplace_back(layout.subfile_size(number, whole));
        EXPECT_EQ(sum, whole);
        EXPECT_EQ(layout.whole_size(sizes), whole);
      }
}

TEST(Stripes, WhatFailsInOneIsWrittenToTheOthers) {
  Set set({10, 3});
  set.subfiles[1].broken = true;
  const std::vector<std::byte> bytes(30);
  const std::span<const std::byte> piece = bytes;
  EXPECT_THROW(set.whole.write(0, {&piece, 1}), Error);
  EXPECT_EQ(set.subfiles[0].bytes.size(), 10U);
  EXPECT_EQ(set.subfiles[2].bytes.size(), 10U);
  set.whole.sync();
  for (const Memory& one : set.subfiles) EXPECT_EQ(one.syncs, 1);
}

TEST(Stripes, WorkersMoveLargeTransfers) {
  std::mt19937 random(12);  // NOLINT(cert-msc32-c,cert-msc51-cpp): the same bytes each time
  Set set({100'000, 3}, true);
  std::latch met(2);
  set.subfiles[0].met = set.subfiles[2].met = &met;
  const auto bytes = some_bytes(random, 2'345'678);
  const std::array<std::span<const std::byte>, 2> pieces{std::span(bytes).first(50'000),
                                                         std::span(bytes).subspan(50'000)};
  set.whole.write(77, pieces);
  std::vector<std::byte> here(bytes.size());
  set.whole.read(77, here);
  EXPECT_EQ(here, bytes);
  set.subfiles[0].met = set.subfiles[2].met = nullptr;
  set.subfiles[1].broken = true;
  EXPECT_THROW(set.whole.write(0, pieces), Error);
  EXPECT_EQ(set.subfiles[0].writes, 2);
  EXPECT_EQ(set.subfiles[2].writes, 2);
}

}  // namespace
}  // namespace headrace::engine
