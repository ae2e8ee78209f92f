// The arrays of vector calls.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "layers/fault/driver/vector.hpp"

namespace headrace::fault {
namespace {

constexpr std::array kTypes{H5FD_MEM_DRAW, H5FD_MEM_OHDR, H5FD_MEM_NOLIST, H5FD_MEM_DRAW};
constexpr std::array<std::size_t, 4> kSizes{10, 20, 0, 7};

TEST(FaultPieces, FillsArraysThatEndEarly) {
  Pieces pieces(4, kTypes.data(), kSizes.data());
  EXPECT_EQ(pieces.bytes(), 70U);
  EXPECT_EQ(std::vector<std::size_t>(pieces.sizes(), pieces.sizes() + 4),
            (std::vector<std::size_t>{10, 20, 20, 20}));
  EXPECT_EQ(pieces.types()[0], H5FD_MEM_DRAW);
  EXPECT_EQ(pieces.types()[3], H5FD_MEM_OHDR) << "what follows the end does not count";
}

TEST(FaultPieces, Shortens) {
  for (const auto& [bytes, count] :
       {std::pair{0U, 0U}, {9U, 1U}, {10U, 1U}, {11U, 2U}, {69U, 4U}, {70U, 4U}, {99U, 4U}}) {
    Pieces pieces(4, kTypes.data(), kSizes.data());
    pieces.shorten(bytes);
    EXPECT_EQ(pieces.count(), count) << bytes;
    EXPECT_EQ(pieces.bytes(), std::min(bytes, 70U));
  }
}

}  // namespace
}  // namespace headrace::fault
