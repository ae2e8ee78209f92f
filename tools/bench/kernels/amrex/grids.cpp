#include "kernels/amrex/grids.hpp"

namespace headrace::bench::amrex {

std::uint64_t Box::cells() const {
  std::uint64_t count = 1;
  for (std::size_t d = 0; d < 3; ++d) count *= static_cast<std::uint64_t>(high[d] - low[d] + 1);
  return count;
}

std::uint64_t Level::begin(int rank) const {
  return static_cast<std::uint64_t>(offsets[first_boxes[static_cast<std::size_t>(rank)]]);
}

std::uint64_t Level::count(int rank) const { return begin(rank + 1) - begin(rank); }

Level make_level(int level, std::int32_t domain, std::int32_t grid, int components, int ranks) {
  Level made;
  made.domain = domain << level;
  const std::int32_t start = (made.domain - domain) / 2;
  std::vector<std::vector<Box>> dealt(static_cast<std::size_t>(ranks));
  std::size_t turn = 0;
  for (std::int32_t k = start; k < start + domain; k += grid)
    for (std::int32_t j = start; j < start + domain; j += grid)
      for (std::int32_t i = start; i < start + domain; i += grid)
        dealt[turn++ % dealt.size()].push_back(
            {{i, j, k}, {i + grid - 1, j + grid - 1, k + grid - 1}});
  made.offsets.push_back(0);
  for (const std::vector<Box>& boxes : dealt) {
    made.first_boxes.push_back(made.boxes.size());
    for (const Box& box : boxes) {
      made.boxes.push_back(box);
      made.offsets.push_back(made.offsets.back() +
                             static_cast<std::int64_t>(box.cells()) * components);
    }
  }
  made.first_boxes.push_back(made.boxes.size());
  return made;
}

}  // namespace headrace::bench::amrex
