// Selections that are unlimited in one dimension: its slices, those within an extent, and blocks.
//
// The program's thread only; throws Error.
#pragma once

#include <array>
#include <cstdint>

#include "hdf5/id.hpp"

namespace headrace::object {

using Sizes = std::array<hsize_t, H5S_MAX_RANK>;

// A regular hyperslab, of which count or block is H5S_UNLIMITED in one dimension; or no such.
struct Unlimited {
  unsigned rank = 0;  // 0 where it is none
  unsigned dimension = 0;
  Sizes start{};
  Sizes stride{};
  Sizes count{};
  Sizes block{};

  explicit operator bool() const { return rank > 0; }
  // The slices that are selected within an extent of that dimension.
  [[nodiscard]] std::uint64_t slices_within(std::uint64_t extent) const;
  // The extent within which so many slices are; with the gap, that which ends before the next one.
  [[nodiscard]] std::uint64_t extent_with(std::uint64_t slices, bool gap) const;
  // The first block that ends behind that place.
  [[nodiscard]] std::uint64_t block_behind(std::uint64_t place) const;
  // How many blocks begin within that extent.
  [[nodiscard]] std::uint64_t blocks_within(std::uint64_t extent) const;
  // One after the last place of a block.
  [[nodiscard]] std::uint64_t end_of(std::uint64_t number) const {
    return start.at(dimension) + number * stride.at(dimension) + block.at(dimension);
  }
};

Unlimited unlimited_in(hid_t space);

// What is selected within an extent; `space`: a dataspace of that selection.
Id<Kind::dataspace> clipped(hid_t space, const Unlimited& selection, std::uint64_t extent);
Id<Kind::dataspace> block_of(hid_t space, const Unlimited& selection, std::uint64_t number);

}  // namespace headrace::object
