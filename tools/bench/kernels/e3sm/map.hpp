// The decompositions of E3SM-IO's map files: which elements of an array each logical rank owns.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace headrace::bench::e3sm {

// Elements of an array, flattened in row-major order.
struct Piece {
  std::uint64_t first = 0;
  std::uint64_t count = 0;
};

struct Decomposition {
  std::vector<std::uint64_t> shape;  // one or two dimensions
  // By logical rank: its pieces in ascending order, neighbours joined, also across the end of a
  // row. Those of all ranks cover each element of the array exactly once.
  std::vector<std::vector<Piece>> ranks;

  // Elements that a logical rank owns.
  [[nodiscard]] std::uint64_t count(std::size_t rank) const;
};

// D1, D2, ... of a map file, which is given whole. All have the same number of logical ranks.
// Throws Error for whatever is not such a file.
std::vector<Decomposition> parse_map(std::string_view file);

}  // namespace headrace::bench::e3sm
