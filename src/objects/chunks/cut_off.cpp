#include "objects/chunks/cut_off.hpp"

#include <algorithm>

namespace headrace::objects {

engine::Index within(unsigned rank, const engine::Index& at, const engine::Index& chunk,
                     const std::vector<std::uint64_t>& dims) {
  engine::Index left{};
  for (unsigned d = 0; d < rank; ++d)
    if (at[d] <= dims[d] / chunk[d]) left[d] = std::min(chunk[d], dims[d] - at[d] * chunk[d]);
  return left;
}

void fill_beyond(unsigned rank, const engine::Index& left, const engine::Index& chunk,
                 std::span<const std::byte> element, std::span<std::byte> elements) {
  const engine::Index strides = engine::strides_of(rank, chunk, element.size());
  engine::Index count = chunk;
  for (unsigned d = 0; d < rank; ++d) {
    count[d] = chunk[d] - left[d];
    engine::fill_box(rank, count, element, elements.data() + left[d] * strides[d], strides);
    count[d] = left[d];
  }
}

}  // namespace headrace::objects
