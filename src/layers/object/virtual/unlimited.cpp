#include "layers/object/virtual/unlimited.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "hdf5/error_stack.hpp"

namespace headrace::object {
namespace {

Id<Kind::dataspace> selected(hid_t space, const Unlimited& slab) {
  Id<Kind::dataspace> result(h5.Scopy(space));
  if (!result || h5.Sselect_hyperslab(result.get(), H5S_SELECT_SET, slab.start.data(),
                                      slab.stride.data(), slab.count.data(), slab.block.data()) < 0)
    throw Error("HDF5 does not clip a selection: " + root_cause());
  return result;
}

// Leaves out what lies behind the extent.
void cut(const Id<Kind::dataspace>& space, unsigned dimension, std::uint64_t extent) {
  Sizes first{};
  Sizes last{};
  if (h5.Sget_select_bounds(space.get(), first.data(), last.data()) < 0)
    throw Error("HDF5 does not tell the bounds of a selection: " + root_cause());
  Sizes block{};
  for (std::size_t d = 0; d < block.size(); ++d) block.at(d) = last.at(d) - first.at(d) + 1;
  block.at(dimension) = extent - first.at(dimension);
  Sizes ones{};
  ones.fill(1);
  if (h5.Sselect_hyperslab(space.get(), H5S_SELECT_AND, first.data(), nullptr, ones.data(),
                           block.data()) < 0)
    throw Error("HDF5 does not clip a selection: " + root_cause());
}

}  // namespace

std::uint64_t Unlimited::slices_within(std::uint64_t extent) const {
  const hsize_t first = start.at(dimension);
  const hsize_t step = stride.at(dimension);
  const hsize_t size = block.at(dimension);
  if (extent <= first) return 0;
  const hsize_t room = extent - first;
  if (size == H5S_UNLIMITED || size == step) return room;
  return room / step * size + std::min(room % step, size);
}

std::uint64_t Unlimited::extent_with(std::uint64_t slices, bool gap) const {
  const hsize_t first = start.at(dimension);
  const hsize_t step = stride.at(dimension);
  const hsize_t size = block.at(dimension);
  if (slices == 0) return gap ? first : 0;
  if (size == H5S_UNLIMITED || size == step) return first + slices;
  const hsize_t whole = slices / size;
  const hsize_t rest = slices % size;
  if (rest > 0 || gap) return first + whole * step + rest;
  return first + (whole - 1) * step + size;
}

std::uint64_t Unlimited::block_behind(std::uint64_t place) const {
  const hsize_t first = start.at(dimension);
  if (place <= first) return 0;
  return (place - first + stride.at(dimension) - block.at(dimension)) / stride.at(dimension);
}

std::uint64_t Unlimited::blocks_within(std::uint64_t extent) const {
  const hsize_t first = start.at(dimension);
  if (extent <= first) return 0;
  return (extent - first + stride.at(dimension) - 1) / stride.at(dimension);
}

Unlimited unlimited_in(hid_t space) {
  if (h5.Sget_select_type(space) != H5S_SEL_HYPERSLABS || h5.Sis_regular_hyperslab(space) <= 0)
    return {};
  Unlimited slab;
  const int rank = h5.Sget_simple_extent_ndims(space);
  if (rank < 0 || h5.Sget_regular_hyperslab(space, slab.start.data(), slab.stride.data(),
                                            slab.count.data(), slab.block.data()) < 0)
    throw Error("HDF5 does not tell a selection: " + root_cause());
  for (unsigned d = 0; d < static_cast<unsigned>(rank); ++d)
    if (slab.count.at(d) == H5S_UNLIMITED || slab.block.at(d) == H5S_UNLIMITED) {
      slab.rank = static_cast<unsigned>(rank);
      slab.dimension = d;
    }
  return slab;
}

Id<Kind::dataspace> clipped(hid_t space, const Unlimited& selection, std::uint64_t extent) {
  Unlimited slab = selection;
  const unsigned d = slab.dimension;
  if (extent <= slab.start.at(d)) {
    Id<Kind::dataspace> none(h5.Scopy(space));
    if (!none || h5.Sselect_none(none.get()) < 0) throw Error(root_cause());
    return none;
  }
  if (slab.block.at(d) == H5S_UNLIMITED || slab.block.at(d) == slab.stride.at(d)) {
    slab.block.at(d) = extent - slab.start.at(d);
    slab.stride.at(d) = slab.block.at(d);
    slab.count.at(d) = 1;
    return selected(space, slab);
  }
  slab.count.at(d) = selection.blocks_within(extent);
  Id<Kind::dataspace> result = selected(space, slab);
  if (selection.end_of(slab.count.at(d) - 1) > extent) cut(result, d, extent);
  return result;
}

Id<Kind::dataspace> block_of(hid_t space, const Unlimited& selection, std::uint64_t number) {
  Unlimited slab = selection;
  const unsigned d = slab.dimension;
  slab.start.at(d) += number * slab.stride.at(d);
  slab.count.at(d) = 1;
  return selected(space, slab);
}

}  // namespace headrace::object
