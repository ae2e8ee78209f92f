#include "layers/object/virtual/mapping.hpp"

#include <algorithm>
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

Mapping mapping_at(hid_t dcpl, std::size_t index) {
  Mapping mapping{Id<Kind::dataspace>(h5.Pget_virtual_vspace(dcpl, index)),
                  Id<Kind::dataspace>(h5.Pget_virtual_srcspace(dcpl, index)),
                  SourceName(name_by(h5.Pget_virtual_filename, dcpl, index)),
                  SourceName(name_by(h5.Pget_virtual_dsetname, dcpl, index)),
                  std::nullopt,
                  std::nullopt};
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
  for (std::size_t i = 0; i < count; ++i) mappings.push_back(mapping_at(dcpl, i));
  return mappings;
}

std::vector<std::uint64_t> least_dims(const std::vector<Mapping>& mappings, std::size_t rank) {
  std::vector<std::uint64_t> dims(rank);
  for (const Mapping& one : mappings)
    for (std::size_t d = 0; d < rank && !one.is_empty; ++d)
      if (!one.unlimited || one.unlimited->dimension != d)
        dims[d] = std::max<std::uint64_t>(dims[d], one.last.at(d) + 1);
  return dims;
}

}  // namespace headrace::object
