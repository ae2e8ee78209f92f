#include "connectors/async/selection.hpp"

#include <algorithm>

#include "hdf5/quiet_errors.hpp"

namespace headrace::async {
namespace {

using engine::Box;
using engine::Index;

constexpr hid_t kAll = 0;    // H5S_ALL
constexpr hid_t kBlock = 1;  // H5S_BLOCK
constexpr hid_t kPlist = 2;  // H5S_PLIST

// A dataspace whose selection is one solid box.
struct Selected {
  unsigned rank = 0;
  Index dims{};
  Box box;
};

bool read_hyperslab(hid_t space, unsigned rank, Box& box) {
  using Numbers = std::array<hsize_t, engine::kMaxRank>;
  Numbers start{};
  Numbers stride{};
  Numbers count{};
  Numbers block{};
  Numbers first{};  // with the selection's offset (H5Soffset_simple), which h5py uses
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

std::optional<Selected> selected(hid_t space) {
  Selected result;
  if (!vol::read_dims(space, result.rank, result.dims)) return std::nullopt;
  const H5S_sel_type type = h5.Sget_select_type(space);
  if (type == H5S_SEL_ALL)
    result.box.count = result.dims;
  else if (type != H5S_SEL_HYPERSLABS || !read_hyperslab(space, result.rank, result.box))
    return std::nullopt;
  for (unsigned d = 0; d < result.rank; ++d)
    if (result.box.count[d] > result.dims[d] ||
        result.box.start[d] > result.dims[d] - result.box.count[d])
      return std::nullopt;
  // Never more elements than HDF5 says: a null dataspace has none.
  const auto elements = engine::volume(result.rank, result.box.count);
  if (static_cast<std::uint64_t>(h5.Sget_select_npoints(space)) != elements || elements == 0)
    return std::nullopt;
  return result;
}

// Strides of memory in which the box lies row by row.
void dense(unsigned rank, Transfer& transfer) {
  transfer.mem_strides = engine::strides_of(rank, transfer.box.count, transfer.mem_element);
  transfer.mem_offset = 0;
}

// Both boxes have the same elements in the same order when their dimensions other than 1 agree.
bool match(const Selected& memory, unsigned rank, Transfer& transfer) {
  const Index strides = engine::strides_of(memory.rank, memory.dims, transfer.mem_element);
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

bool read_memory(const Elements& dataset, hid_t space, bool file_all, Transfer& transfer) {
  const unsigned rank = dataset.rank;
  if (space == kBlock || (space == kAll && file_all)) {
    dense(rank, transfer);
    return true;
  }
  if (space == kAll) {  // the file's selection, in memory of the dataset's extent
    transfer.mem_strides = engine::strides_of(rank, dataset.dims, transfer.mem_element);
    transfer.mem_offset = engine::offset_of(rank, transfer.box.start, transfer.mem_strides);
    return true;
  }
  const auto memory = selected(space);
  if (!memory ||
      engine::volume(memory->rank, memory->box.count) != engine::volume(rank, transfer.box.count))
    return false;
  if (memory->box.count == memory->dims) {
    dense(rank, transfer);
    return true;
  }
  return match(*memory, rank, transfer);
}

bool read_types(const Elements& dataset, hid_t mem_type, Transfer& transfer) {
  transfer.mem_type = mem_type;
  transfer.mem_element = dataset.element;
  if (h5.Tequal(mem_type, dataset.type.get()) > 0) return true;
  const H5T_class_t kind = h5.Tget_class(mem_type);
  transfer.mem_element = h5.Tget_size(mem_type);
  transfer.converts = true;
  return dataset.numeric && (kind == H5T_INTEGER || kind == H5T_FLOAT) && transfer.mem_element > 0;
}

}  // namespace

std::optional<Transfer> transfer_of(Elements& dataset, const vol::Object& object, hid_t mem_type,
                                    hid_t mem_space, hid_t file_space, hid_t dxpl,
                                    std::string_view& why) {
  const Aside aside;
  Transfer transfer;
  why = "left_for_transfer_list";
  if (file_space == kBlock || file_space == kPlist || mem_space == kPlist ||
      !vol::leaves_data_alone(dxpl))
    return std::nullopt;
  why = "left_for_conversion";
  if (!read_types(dataset, mem_type, transfer)) return std::nullopt;
  why = "left_for_selection";
  if (!update_dims(dataset, object)) return std::nullopt;
  if (file_space == kAll) {
    transfer.box.count = dataset.dims;
    if (engine::volume(dataset.rank, dataset.dims) == 0) return std::nullopt;
  } else {
    const auto file = selected(file_space);
    if (!file || file->rank != dataset.rank || file->dims != dataset.dims) return std::nullopt;
    transfer.box = file->box;
  }
  if (!read_memory(dataset, mem_space, file_space == kAll, transfer)) return std::nullopt;
  return transfer;
}

}  // namespace headrace::async
