// The grid of a seismic simulation, split among the ranks along x and y, and the datasets on it.
#pragma once

#include <hdf5.h>

#include <array>
#include <string>
#include <vector>

namespace headrace::bench::sw4 {

using Cells = std::array<hsize_t, 3>;  // x, y, z

// What a rank has of something with several dimensions.
struct Slab {
  std::vector<hsize_t> start;
  std::vector<hsize_t> count;

  [[nodiscard]] bool empty() const { return elements() == 0; }
  [[nodiscard]] hsize_t elements() const;
};

// Part `rank` of the grid among `ranks`: columns of full height.
Slab window(const Cells& grid, int rank, int ranks);

struct Item {
  std::string path;
  hsize_t cycles = 0;  // 0: it has no such dimension
  int plane = -1;      // 0, 1, 2: only the middle plane across x, y or z
  bool wide = false;   // double instead of float

  [[nodiscard]] std::vector<hsize_t> shape(const Cells& grid) const;
  // What of it lies in a part of the grid; `first` and `count` are cycles.
  [[nodiscard]] Slab part(const Cells& grid, const Slab& window, hsize_t first,
                          hsize_t count) const;
  [[nodiscard]] std::size_t element_size() const { return wide ? sizeof(double) : sizeof(float); }
};

// Calls row(linear index of its first element, elements) for each row of the last dimension.
template <typename Row>
void each_row(const std::vector<hsize_t>& shape, const Slab& slab, const Row& row) {
  if (slab.empty()) return;
  std::vector<hsize_t> at = slab.start;
  const std::size_t last = shape.size() - 1;
  while (true) {
    hsize_t index = 0;
    for (std::size_t d = 0; d <= last; ++d) index = index * shape[d] + at[d];
    row(index, slab.count[last]);
    std::size_t d = last;
    while (d > 0 && ++at[d - 1] == slab.start[d - 1] + slab.count[d - 1]) {
      at[d - 1] = slab.start[d - 1];
      --d;
    }
    if (d == 0) return;
  }
}

}  // namespace headrace::bench::sw4
