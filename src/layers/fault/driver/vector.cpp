#include "layers/fault/driver/vector.hpp"

#include <algorithm>
#include <numeric>

#include "hdf5/quiet_errors.hpp"

namespace headrace::fault {

Pieces::Pieces(std::uint32_t count, const H5FD_mem_t types[], const std::size_t sizes[])
    : types_(count), sizes_(count) {
  bool all_sizes = true;
  bool all_types = true;
  for (std::uint32_t i = 0; i < count; ++i) {
    all_sizes = all_sizes && sizes[i] != 0;
    all_types = all_types && types[i] != H5FD_MEM_NOLIST;
    sizes_[i] = all_sizes || i == 0 ? sizes[i] : sizes_[i - 1];
    types_[i] = all_types || i == 0 ? types[i] : types_[i - 1];
  }
}

std::uint64_t Pieces::bytes() const {
  return std::accumulate(sizes_.begin(), sizes_.end(), std::uint64_t{0});
}

void Pieces::shorten(std::uint64_t bytes) {
  std::size_t count = 0;
  for (; count < sizes_.size() && bytes > 0; ++count) {
    sizes_[count] = std::min<std::uint64_t>(sizes_[count], bytes);
    bytes -= sizes_[count];
  }
  sizes_.resize(count);
  types_.resize(count);
}

std::vector<std::uint64_t> selection_bytes(std::size_t count, const hid_t file_spaces[],
                                           const std::size_t element_sizes[]) {
  const NestedCalls nested;
  std::vector<std::uint64_t> bytes(count);
  std::size_t size = 0;
  bool all_sizes = true;
  for (std::size_t i = 0; i < count; ++i) {
    all_sizes = all_sizes && element_sizes[i] != 0;
    if (all_sizes) size = element_sizes[i];
    const hssize_t points = h5.Sget_select_npoints(file_spaces[i]);
    bytes[i] = points < 0 ? 0 : static_cast<std::uint64_t>(points) * size;
  }
  return bytes;
}

}  // namespace headrace::fault
