// Selections that are a hyperslab, and the bounds of regular ones.
#include <array>
#include <tuple>

#include "vol/dataset/selection.hpp"
#include "vol/dataset/transfer.hpp"

namespace headrace::vol {
namespace {

using engine::Index;
using Numbers = std::array<hsize_t, engine::kMaxRank>;

constexpr Numbers kOnce = [] {
  Numbers all{};
  all.fill(1);
  return all;
}();

// The bounds are those with the selection's offset (H5Soffset_simple), which h5py uses.
bool read_box(hid_t space, Hyperslab& slab) {
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
  for (unsigned d = 0; d < slab.rank; ++d) {
    const bool solid = count.at(d) == 1 || stride.at(d) == block.at(d);
    if (!solid && block.at(d) != 1) return false;
    slab.box.start[d] = first.at(d);
    slab.box.count[d] = solid ? last.at(d) - first.at(d) + 1 : count.at(d);
    slab.step[d] = solid ? 1 : stride.at(d);
  }
  return true;
}

bool lies_within(const Hyperslab& slab) {
  for (unsigned d = 0; d < slab.rank; ++d) {
    const std::uint64_t first = slab.box.start[d];
    const std::uint64_t steps = slab.box.count[d] - 1;  // no element at all is found out later
    if (first >= slab.dims[d] || steps > (slab.dims[d] - 1 - first) / slab.step[d]) return false;
  }
  return true;
}

// Memory in which the box lies row by row.
void lie_dense(unsigned rank, std::size_t mem_element, HyperslabTransfer& transfer) {
  transfer.mem_strides = engine::strides_of(rank, transfer.box.count, mem_element);
  transfer.mem_offset = 0;
}

// The bytes between neighbours of the selection in a dense array.
Index strides_in(const Hyperslab& slab, std::size_t element) {
  Index strides = engine::strides_of(slab.rank, slab.dims, element);
  for (unsigned d = 0; d < slab.rank; ++d) strides[d] *= slab.step[d];
  return strides;
}

// Both have the same elements in the same order when their dimensions other than 1 agree.
bool match(const Hyperslab& memory, unsigned rank, std::size_t mem_element,
           HyperslabTransfer& transfer) {
  const Index strides = strides_in(memory, mem_element);
  unsigned m = 0;
  for (unsigned d = 0; d < rank; ++d) {
    if (transfer.box.count[d] == 1) continue;
    while (m < memory.rank && memory.box.count[m] == 1) ++m;
    if (m == memory.rank || memory.box.count[m] != transfer.box.count[d]) return false;
    transfer.mem_strides[d] = strides[m++];
  }
  while (m < memory.rank && memory.box.count[m] == 1) ++m;
  transfer.mem_offset = engine::offset_of(
      memory.rank, memory.box.start, engine::strides_of(memory.rank, memory.dims, mem_element));
  return m == memory.rank;
}

bool read_memory(const Elements& dataset, const Transfer& call, std::size_t mem_element,
                 HyperslabTransfer& transfer) {
  const unsigned rank = dataset.rank;
  if (call.mem_space == kPlist) return false;
  if (call.mem_space == kBlock || (call.mem_space == kAll && call.file_space == kAll)) {
    lie_dense(rank, mem_element, transfer);
    return true;
  }
  if (call.mem_space == kAll) {  // the file's selection, in memory of the dataset's extent
    const Hyperslab same{rank, dataset.dims, transfer.box, transfer.step};
    transfer.mem_strides = strides_in(same, mem_element);
    transfer.mem_offset = engine::offset_of(rank, transfer.box.start,
                                            engine::strides_of(rank, dataset.dims, mem_element));
    return true;
  }
  const Hyperslab* const memory = call.memory_hyperslab();
  if (memory == nullptr ||
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

bool read_hyperslab(hid_t space, Hyperslab& slab) {
  if (!is_dataspace(space) || !read_dims(space, slab.rank, slab.dims)) return false;
  const H5S_sel_type type = h5.Sget_select_type(space);
  if (type == H5S_SEL_ALL)
    slab.box.count = slab.dims;
  else if (type != H5S_SEL_HYPERSLABS || !read_box(space, slab))
    return false;
  // Never more elements than HDF5 says: a null dataspace has none.
  const auto elements = engine::volume(slab.rank, slab.box.count);
  return elements != 0 && lies_within(slab) &&
         static_cast<std::uint64_t>(h5.Sget_select_npoints(space)) == elements;
}

std::optional<HyperslabTransfer> hyperslab_transfer_of(const Elements& dataset,
                                                       const Transfer& transfer,
                                                       std::size_t mem_element) {
  HyperslabTransfer found;
  if (transfer.file_space == kAll) {
    found.box.count = dataset.dims;
    if (engine::volume(dataset.rank, dataset.dims) == 0) return std::nullopt;
  } else {
    const Hyperslab* const file = transfer.file_hyperslab();
    if (file == nullptr || file->rank != dataset.rank || file->dims != dataset.dims)
      return std::nullopt;
    found.box = file->box;
    found.step = file->step;
  }
  if (!read_memory(dataset, transfer, mem_element, found)) return std::nullopt;
  return found;
}

std::optional<Spread> spread_of(hid_t file_space) {
  if (!is_dataspace(file_space)) return std::nullopt;
  const H5S_sel_type type = h5.Sget_select_type(file_space);
  if (type == H5S_SEL_NONE) return Spread{0, 0};
  const bool all = type == H5S_SEL_ALL;
  if (!all && (type != H5S_SEL_HYPERSLABS || h5.Sis_regular_hyperslab(file_space) <= 0))
    return std::nullopt;
  Numbers dims{};
  Numbers start{};
  Numbers stride{};
  Numbers count{};
  Numbers block{};
  const int rank = h5.Sget_simple_extent_dims(file_space, dims.data(), nullptr);
  if (rank < 0) return std::nullopt;
  if (all)
    std::tie(stride, count, block) = std::tuple(dims, kOnce, dims);
  else if (h5.Sget_regular_hyperslab(file_space, start.data(), stride.data(), count.data(),
                                     block.data()) < 0)
    return std::nullopt;
  Spread spread{1, 1};
  bool whole = true;       // all of the faster dimensions is selected
  std::uint64_t step = 1;  // elements from one place in the dimension to the next
  for (auto d = static_cast<std::size_t>(rank); d-- > 0;) {
    const bool solid = count.at(d) == 1 || stride.at(d) == block.at(d);
    const std::uint64_t pieces = solid ? 1 : count.at(d);
    spread.rows *= whole ? pieces : count.at(d) * block.at(d);
    spread.extent += ((count.at(d) - 1) * stride.at(d) + block.at(d) - 1) * step;
    whole = whole && solid && count.at(d) * block.at(d) == dims.at(d);
    step *= dims.at(d);
  }
  return spread;
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
