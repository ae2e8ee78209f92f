#include <gtest/gtest.h>

#include <algorithm>

#include "unit/files.hpp"

namespace headrace {
namespace {

std::vector<std::byte> counted(std::size_t size) {
  std::vector<std::byte> bytes(size);
  for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::byte>(i * 7 + i / 251);
  return bytes;
}

// Pieces of `bytes` with up to three bytes each, empty ones among them.
template <typename Byte>
std::vector<std::span<Byte>> cut(std::span<Byte> bytes) {
  std::vector<std::span<Byte>> pieces;
  for (std::size_t size = 0; !bytes.empty(); size = (size + 1) % 4) {
    pieces.push_back(bytes.first(std::min(size, bytes.size())));
    bytes = bytes.subspan(pieces.back().size());
  }
  pieces.emplace_back();
  return pieces;
}

TEST(PosixFile, PiecesAreOneAfterTheOther) {
  const TestFolder folder;
  const TestFile file(folder / "file");
  const auto storage = file.storage();
  const std::vector<std::byte> all = counted(5000);  // more pieces than one call takes
  storage->write(100, cut(std::span(all)));
  std::vector<std::byte> back(5300, std::byte{9});
  storage->read_pieces(50, cut(std::span(back)));
  std::vector<std::byte> expected(5300);
  std::ranges::copy(all, expected.begin() + 50);
  EXPECT_EQ(back, expected) << "with zeros before and beyond";
  storage->read_pieces(0, {});
  std::ranges::fill(back, std::byte{9});
  storage->read_pieces(1'000'000, cut(std::span(back)));
  EXPECT_EQ(back, std::vector<std::byte>(5300)) << "all of it beyond the end";
}

}  // namespace
}  // namespace headrace
