#include "kernels/sw4/grid.hpp"

namespace headrace::bench::sw4 {

hsize_t Slab::elements() const {
  hsize_t product = 1;
  for (const hsize_t length : count) product *= length;
  return product;
}

Slab window(const Cells& grid, int rank, int ranks) {
  int columns = 1;  // of ranks, along x: as near to a square as it goes
  for (int i = 1; i * i <= ranks; ++i)
    if (ranks % i == 0) columns = i;
  const int rows = ranks / columns;
  const auto cut = [](hsize_t length, int part, int parts) {
    return length * static_cast<hsize_t>(part) / static_cast<hsize_t>(parts);
  };
  const int x = rank / rows;
  const int y = rank % rows;
  Slab slab;
  slab.start = {cut(grid[0], x, columns), cut(grid[1], y, rows), 0};
  slab.count = {cut(grid[0], x + 1, columns) - slab.start[0],
                cut(grid[1], y + 1, rows) - slab.start[1], grid[2]};
  return slab;
}

std::vector<hsize_t> Item::shape(const Cells& grid) const {
  std::vector<hsize_t> all;
  if (cycles > 0) all.push_back(cycles);
  for (int d = 0; d < 3; ++d)
    if (d != plane) all.push_back(grid[static_cast<std::size_t>(d)]);
  return all;
}

Slab Item::part(const Cells& grid, const Slab& window, hsize_t first, hsize_t count) const {
  Slab slab;
  if (cycles > 0) {
    slab.start.push_back(first);
    slab.count.push_back(count);
  }
  bool inside = true;
  for (std::size_t d = 0; d < 3; ++d) {
    if (static_cast<int>(d) == plane) {
      const hsize_t middle = grid[d] / 2;
      inside = middle >= window.start[d] && middle < window.start[d] + window.count[d];
    } else {
      slab.start.push_back(window.start[d]);
      slab.count.push_back(window.count[d]);
    }
  }
  if (!inside) slab.count.back() = 0;
  return slab;
}

}  // namespace headrace::bench::sw4
