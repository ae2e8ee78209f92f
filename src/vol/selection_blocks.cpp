// Selections that are one block, and the bounds of regular ones.
#include <array>

#include "vol/selection.hpp"

namespace headrace::vol {
namespace {

using engine::Box;
using engine::Index;
using Numbers = std::array<hsize_t, engine::kMaxRank>;

// The bounds are those with the selection's offset (H5Soffset_simple), which h5py uses.
bool read_hyperslab(hid_t space, unsigned rank, Box& box) {
  Numbers start{};
  Numbers stride{};
  Numbers count{};
  Numbers block{};
  Numbers first{};
  Numbers last{};
  if (h5.Sis_regular_hyperslab(space) <= 0 ||
      h5.Sget_regular_hyperslab(space, start.data(), stride.data(), count.data(), block.data()) <
          0 ||
      h5.Sget_select_bounds(space, first.data(), last.data()) < 0)
    return false;
  for (unsigned d = 0; d < rank; ++d) {
    if (count.at(d) != 1 && stride.at(d) != block.at(d)) return false;
    box.start[d] = first.at(d);
    box.count[d] = last.at(d) - first.at(d) + 1;
  }
  return true;
}

bool lies_within(const Block& block) {
  for (unsigned d = 0; d < block.rank; ++d)
    if (block.box.count[d] > block.dims[d] ||
        block.box.start[d] > block.dims[d] - block.box.count[d])
      return false;
  return true;
}

// Memory in which the box lies row by row.
void lie_dense(unsigned rank, std::size_t mem_element, BlockTransfer& transfer) {
  transfer.mem_strides = engine::strides_of(rank, transfer.box.count, mem_element);
  transfer.mem_offset = 0;
}

// Both blocks have the same elements in the same order when their dimensions other than 1 agree.
bool match(const Block& memory, unsigned rank, std::size_t mem_element, BlockTransfer& transfer) {
  const Index strides = engine::strides_of(memory.rank, memory.dims, mem_element);
  unsigned m = 0;
  for (unsigned d = 0; d < rank; ++d) {
    if (transfer.box.count[d] == 1) continue;
    while (m < memory.rank && memory.box.count[m] == 1) ++m;
    if (m == memory.rank || memory.box.count[m] != transfer.box.count[d]) return false;
    transfer.mem_strides[d] = strides[m++];
  }
  while (m < memory.rank && memory.box.count[m] == 1) ++m;
  transfer.mem_offset = engine::offset_of(memory.rank, memory.box.start, strides);
  return m == memory.rank;
}

bool read_memory(const Elements& dataset, hid_t mem_space, hid_t file_space,
                 std::size_t mem_element, BlockTransfer& transfer) {
  const unsigned rank = dataset.rank;
  if (mem_space == kPlist) return false;
  if (mem_space == kBlock || (mem_space == kAll && file_space == kAll)) {
    lie_dense(rank, mem_element, transfer);
    return true;
  }
  if (mem_space == kAll) {  // the file's selection, in memory of the dataset's extent
    transfer.mem_strides = engine::strides_of(rank, dataset.dims, mem_element);
    transfer.mem_offset = engine::offset_of(rank, transfer.box.start, transfer.mem_strides);
    return true;
  }
  const auto memory = block_of(mem_space);
  if (!memory ||
      engine::volume(memory->rank, memory->box.count) != engine::volume(rank, transfer.box.count))
    return false;
  if (memory->box.count == memory->dims) {
    lie_dense(rank, mem_element, transfer);
    return true;
  }
  return match(*memory, rank, mem_element, transfer);
}

}  // namespace

std::optional<MemoryType> memory_type_of(const Elements& dataset, hid_t mem_type) {
  if (h5.Tequal(mem_type, dataset.type.get()) > 0) return MemoryType{dataset.element, false};
  const H5T_class_t kind = h5.Tget_class(mem_type);
  const std::size_t size = h5.Tget_size(mem_type);
  if (!dataset.numeric || (kind != H5T_INTEGER && kind != H5T_FLOAT) || size == 0)
    return std::nullopt;
  return MemoryType{size, true};
}

std::optional<Block> block_of(hid_t space) {
  Block block;
  if (!read_dims(space, block.rank, block.dims)) return std::nullopt;
  const H5S_sel_type type = h5.Sget_select_type(space);
  if (type == H5S_SEL_ALL)
    block.box.count = block.dims;
  else if (type != H5S_SEL_HYPERSLABS || !read_hyperslab(space, block.rank, block.box))
    return std::nullopt;
  // Never more elements than HDF5 says: a null dataspace has none.
  const auto elements = engine::volume(block.rank, block.box.count);
  if (!lies_within(block) || elements == 0 ||
      static_cast<std::uint64_t>(h5.Sget_select_npoints(space)) != elements)
    return std::nullopt;
  return block;
}

std::optional<BlockTransfer> block_transfer_of(const Elements& dataset, hid_t mem_space,
                                               hid_t file_space, std::size_t mem_element) {
  BlockTransfer transfer;
  if (file_space == kAll) {
    transfer.box.count = dataset.dims;
    if (engine::volume(dataset.rank, dataset.dims) == 0) return std::nullopt;
  } else {
    if (!is_dataspace(file_space)) return std::nullopt;
    const auto file = block_of(file_space);
    if (!file || file->rank != dataset.rank || file->dims != dataset.dims) return std::nullopt;
    transfer.box = file->box;
  }
  if (!read_memory(dataset, mem_space, file_space, mem_element, transfer)) return std::nullopt;
  return transfer;
}

std::optional<engine::Run> bounds_of(hid_t space) {
  const H5S_sel_type type = h5.Sget_select_type(space);
  const bool regular =
      type == H5S_SEL_ALL || (type == H5S_SEL_HYPERSLABS && h5.Sis_regular_hyperslab(space) > 0);
  unsigned rank = 0;
  Index dims{};
  Numbers first{};
  Numbers last{};
  if (!regular || h5.Sget_select_npoints(space) <= 0 || !read_dims(space, rank, dims) ||
      (rank > 0 && h5.Sget_select_bounds(space, first.data(), last.data()) < 0))
    return std::nullopt;
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  for (unsigned d = 0; d < rank; ++d) {
    begin = begin * dims[d] + first.at(d);
    end = end * dims[d] + last.at(d);
  }
  return engine::Run{begin, end - begin + 1};
}

}  // namespace headrace::vol
