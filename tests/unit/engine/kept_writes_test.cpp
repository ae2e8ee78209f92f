#include "engine/kept_writes.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace headrace::engine {
namespace {

constexpr std::size_t kSize = 40;
using Bytes = std::vector<std::byte>;

struct File {
  Bytes bytes = Bytes(kSize);
  KeptWrites kept;

  void put(std::uint64_t address, std::span<const std::byte> piece) {
    std::ranges::copy(piece, bytes.begin() + static_cast<std::ptrdiff_t>(address));
  }
  [[nodiscard]] Bytes read(std::uint64_t address, std::size_t size) const {
    const auto begin = bytes.begin() + static_cast<std::ptrdiff_t>(address);
    Bytes found(begin, begin + static_cast<std::ptrdiff_t>(size));
    kept.overlay(address, found);
    return found;
  }
};

// Pieces that overlap in all ways, some of which are kept, against a file that takes all.
TEST(KeptWrites, ReadAsIfNoneHadFailed) {
  std::mt19937 random(7);
  const auto below = [&](std::size_t limit) { return random() % limit; };
  for (int round = 0; round < 200; ++round) {
    File file;
    Bytes all(kSize);
    for (int step = 0; step < 12; ++step) {
      const std::size_t address = below(kSize);
      const Bytes piece(1 + below(kSize - address), static_cast<std::byte>(1 + below(250)));
      std::ranges::copy(piece, all.begin() + static_cast<std::ptrdiff_t>(address));
      if (below(2) == 0) {
        file.kept.keep(address, piece);
      } else {
        file.put(address, piece);
        file.kept.note_written(address, piece);
      }
      const std::size_t begin = below(kSize);
      const Bytes found = file.read(begin, kSize - begin);
      ASSERT_TRUE(
          std::equal(found.begin(), found.end(), all.begin() + static_cast<std::ptrdiff_t>(begin)));
    }
  }
}

}  // namespace
}  // namespace headrace::engine
