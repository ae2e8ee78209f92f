#include "layers/object/virtual/points.hpp"

#include <algorithm>
#include <cstring>
#include <span>

#include "base/error.hpp"
#include "hdf5/error_stack.hpp"
#include "layers/object/virtual/unlimited.hpp"
#include "vol/dataset/elements.hpp"

namespace headrace::object {
namespace {

// A hyperslab of the places in a dataspace; they are sorted, and each is there once.
Id<Kind::dataspace> slab_of(hid_t space, std::span<const std::uint64_t> places) {
  Id<Kind::dataspace> slab(h5.Scopy(space));
  const int rank = h5.Sget_simple_extent_ndims(space);
  Sizes dims{};
  if (!slab || rank < 1 || h5.Sget_simple_extent_dims(space, dims.data(), nullptr) < 0 ||
      h5.Sselect_none(slab.get()) < 0)
    throw Error("HDF5 does not select a dataspace: " + root_cause());
  const auto last = static_cast<std::size_t>(rank) - 1;
  for (std::size_t i = 0; i < places.size();) {
    Sizes start{};
    Sizes count{};
    std::uint64_t rest = places[i];
    for (std::size_t d = last + 1; d-- > 0; rest /= dims.at(d)) start.at(d) = rest % dims.at(d);
    count.fill(1);
    // What lies side by side in a row.
    const std::uint64_t most = dims.at(last) - start.at(last);
    const std::size_t first = i;
    for (++i; i < places.size() && places[i] - places[first] == i - first && i - first < most;) ++i;
    count.at(last) = i - first;
    if (h5.Sselect_hyperslab(slab.get(), H5S_SELECT_OR, start.data(), nullptr, count.data(),
                             nullptr) < 0)
      throw Error("HDF5 does not select a dataspace: " + root_cause());
  }
  return slab;
}

}  // namespace

Points::Points(const Selection& selection, hid_t mem_type) : element_(h5.Tget_size(mem_type)) {
  SelectionParts parts(selection);
  for (vol::Runs file, memory; parts.next(file, memory);) {
    std::vector<std::uint64_t> in_memory;
    for (const engine::Run& run : memory)
      for (std::uint64_t i = 0; i < run.count; ++i) in_memory.push_back(run.first + i);
    std::size_t at = 0;
    for (const engine::Run& run : file)
      for (std::uint64_t i = 0; i < run.count; ++i)
        places_.push_back({run.first + i, in_memory.at(at++), 0});
  }
  std::vector<std::uint64_t> order;
  order.reserve(places_.size());
  for (const Place& one : places_) order.push_back(one.file);
  std::ranges::sort(order);
  const auto twice = std::ranges::unique(order);
  order.erase(twice.begin(), twice.end());
  if (order.size() < places_.size() && !vol::is_flat(mem_type))
    throw Error("points that are selected twice cannot be transferred with strings or sequences",
                ErrorKind::unsupported);
  for (Place& one : places_)
    one.sorted =
        static_cast<std::uint64_t>(std::ranges::lower_bound(order, one.file) - order.begin());
  sorted_.count = order.size();
  sorted_.file = slab_of(selection.file.get(), order);
  const hsize_t count = sorted_.count;
  sorted_.memory = Id<Kind::dataspace>(h5.Screate_simple(1, &count, nullptr));
  if (!sorted_.memory) throw Error("HDF5 makes no dataspace: " + root_cause());
}

void Points::gather(const std::byte* program, std::byte* sorted) const {
  for (const Place& one : places_)
    std::memcpy(sorted + one.sorted * element_, program + one.memory * element_, element_);
}

void Points::scatter(const std::byte* sorted, std::byte* program) const {
  for (const Place& one : places_)
    std::memcpy(program + one.memory * element_, sorted + one.sorted * element_, element_);
}

}  // namespace headrace::object
