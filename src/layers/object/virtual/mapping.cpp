#include "layers/object/virtual/mapping.hpp"

#include <algorithm>
#include <optional>
#include <string>

#include "base/error.hpp"
#include "hdf5/error_stack.hpp"

namespace headrace::object {
namespace {

template <typename Get>
std::string name_by(const Get& get, hid_t dcpl, std::size_t index) {
  const ssize_t length = get(dcpl, index, nullptr, 0);
  if (length < 0) throw Error("HDF5 does not tell the source of a mapping: " + root_cause());
  std::string name(static_cast<std::size_t>(length), '\0');
  if (get(dcpl, index, name.data(), name.size() + 1) < 0) throw Error(root_cause());
  return name;
}

Sizes first_of(hid_t space) {
  Sizes first{};
  Sizes last{};
  if (h5.Sget_select_bounds(space, first.data(), last.data()) < 0)
    throw Error("HDF5 does not tell the bounds of a selection: " + root_cause());
  return first;
}

using Offsets = std::array<hssize_t, H5S_MAX_RANK>;

// What is to be taken off a selection's places for an offset that it has, or none.
std::optional<Offsets> offset_of(hid_t space) {
  const H5S_sel_type type = h5.Sget_select_type(space);
  if (type != H5S_SEL_HYPERSLABS && type != H5S_SEL_POINTS) return std::nullopt;
  const Id<Kind::dataspace> copy(h5.Scopy(space));
  Offsets offset{};
  if (!copy || h5.Soffset_simple(copy.get(), offset.data()) < 0)
    throw Error("HDF5 does not copy a dataspace: " + root_cause());
  const Sizes first = first_of(space);
  const Sizes plain = first_of(copy.get());
  if (first == plain) return std::nullopt;
  for (std::size_t d = 0; d < first.size(); ++d)
    offset.at(d) = static_cast<hssize_t>(plain.at(d)) - static_cast<hssize_t>(first.at(d));
  return offset;
}

Mapping mapping_at(hid_t dcpl, std::size_t index) {
  Mapping mapping{Id<Kind::dataspace>(h5.Pget_virtual_vspace(dcpl, index)),
                  Id<Kind::dataspace>(h5.Pget_virtual_srcspace(dcpl, index)),
                  SourceName(name_by(h5.Pget_virtual_filename, dcpl, index)),
                  SourceName(name_by(h5.Pget_virtual_dsetname, dcpl, index)),
                  {},
                  {}};
  if (!mapping.here || !mapping.there)
    throw Error("HDF5 does not tell the selections of a mapping: " + root_cause());
  const hid_t here = mapping.here.get();
  mapping.unlimited = unlimited_in(here);
  mapping.source_unlimited = unlimited_in(mapping.there.get());
  mapping.is_empty = !mapping.unlimited && h5.Sget_select_npoints(here) == 0;
  if (!mapping.is_empty && h5.Sget_simple_extent_ndims(here) > 0 &&
      h5.Sget_select_bounds(here, mapping.first.data(), mapping.last.data()) < 0)
    throw Error("HDF5 does not tell the bounds of a selection: " + root_cause());
  return mapping;
}

}  // namespace

std::vector<Mapping> mappings_of(hid_t dcpl) {
  std::size_t count = 0;
  if (h5.Pget_virtual_count(dcpl, &count) < 0)
    throw Error("HDF5 does not tell the mappings of a virtual dataset: " + root_cause());
  std::vector<Mapping> mappings;
  mappings.reserve(count);
  for (std::size_t i = 0; i < count; ++i) mappings.push_back(mapping_at(dcpl, i));
  return mappings;
}

Id<Kind::dataspace> without_offset(hid_t space) {
  Id<Kind::dataspace> copy(h5.Scopy(space));
  if (!copy) throw Error("HDF5 does not copy a dataspace: " + root_cause());
  const auto offset = offset_of(space);
  if (!offset) return copy;
  constexpr Offsets kNone{};
  if (h5.Soffset_simple(copy.get(), kNone.data()) < 0 ||
      h5.Sselect_adjust(copy.get(), offset->data()) < 0)
    throw Error("HDF5 does not move a selection: " + root_cause());
  return copy;
}

void take_in_offsets(hid_t dcpl) {
  std::vector<Mapping> given = mappings_of(dcpl);
  const bool has_some = std::ranges::any_of(given, [](const Mapping& one) {
    return offset_of(one.here.get()) || offset_of(one.there.get());
  });
  if (!has_some) return;
  const Id<Kind::plist> list(h5.Pcopy(dcpl));
  // Mappings can only be added: the first one to another layout begins anew.
  if (!list || h5.Pset_layout(dcpl, H5D_CONTIGUOUS) < 0)
    throw Error("HDF5 does not copy a creation list: " + root_cause());
  for (std::size_t i = 0; i < given.size(); ++i) {
    const std::string file = name_by(h5.Pget_virtual_filename, list.get(), i);
    const std::string dataset = name_by(h5.Pget_virtual_dsetname, list.get(), i);
    if (h5.Pset_virtual(dcpl, without_offset(given[i].here.get()).get(), file.c_str(),
                        dataset.c_str(), without_offset(given[i].there.get()).get()) < 0)
      throw Error("HDF5 does not take a mapping: " + root_cause());
  }
}

std::vector<std::uint64_t> least_dims(const std::vector<Mapping>& mappings, std::size_t rank) {
  std::vector<std::uint64_t> dims(rank);
  for (const Mapping& one : mappings)
    for (std::size_t d = 0; d < rank && !one.is_empty; ++d)
      if (!one.unlimited || one.unlimited.dimension != d)
        dims[d] = std::max<std::uint64_t>(dims[d], one.last.at(d) + 1);
  return dims;
}

}  // namespace headrace::object
