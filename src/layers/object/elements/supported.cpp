#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <vector>

#include "base/error.hpp"
#include "engine/codec/filters.hpp"
#include "hdf5/error_stack.hpp"
#include "layers/object/elements/elements.hpp"
#include "layers/object/elements/fill.hpp"
#include "vol/dataset/elements.hpp"

namespace headrace::object {
namespace {

namespace number = engine::filter_number;

// What HDF5 would refuse it refuses for a native dataset that is made for nothing else. Its list.
Id<Kind::plist> native_list(hid_t type, hid_t dcpl, hid_t space) {
  const auto file = filters_file();
  const Id<Kind::datatype> copy(h5.Tcopy(type));  // a committed type is one of another file
  const Id<Kind::plist> list(h5.Pcopy(dcpl));
  const H5D_layout_t layout = h5.Pget_layout(dcpl);
  const bool allocates = layout != H5D_COMPACT && layout != H5D_VIRTUAL;
  if (!copy || !list || (allocates && h5.Pset_alloc_time(list.get(), H5D_ALLOC_TIME_LATE) < 0))
    throw Error(root_cause());
  return NativeDataset(*file, copy.get(), space, list.get()).creation_list();
}

// Whether its extent is one that HDF5 takes for a contiguous dataset.
bool is_fixed(hid_t space, std::size_t element) {
  const hssize_t count = h5.Sget_simple_extent_npoints(space);
  const int rank = h5.Sget_simple_extent_ndims(space);
  if (rank < 0 || count < 0 || element == 0 ||
      static_cast<std::size_t>(count) > std::numeric_limits<std::int64_t>::max() / element)
    return false;
  std::vector<hsize_t> dims(static_cast<std::size_t>(rank));
  std::vector<hsize_t> most(dims.size());
  return rank == 0 ||
         (h5.Sget_simple_extent_dims(space, dims.data(), most.data()) >= 0 && dims == most);
}

// Whether HDF5 is known to make it: a native dataset costs much for programs that make many.
bool is_plain(hid_t type, hid_t dcpl, hid_t space) {
  const H5T_class_t kind = h5.Tget_class(type);
  H5D_fill_value_t fill = H5D_FILL_VALUE_ERROR;
  return (kind == H5T_INTEGER || kind == H5T_FLOAT ||
          (kind == H5T_STRING && h5.Tis_variable_str(type) == 0)) &&
         h5.Pget_layout(dcpl) == H5D_CONTIGUOUS && h5.Pget_nfilters(dcpl) == 0 &&
         h5.Pfill_value_defined(dcpl, &fill) >= 0 && fill == H5D_FILL_VALUE_DEFAULT &&
         is_fixed(space, h5.Tget_size(type));
}

// Whether a filter sets the same again where a list has its parameters already. Others take them
// for a program's: bitshuffle, SZ.
bool stays(const ListedFilter& filter) {
  constexpr std::array kStaying{number::lzf, number::blosc, number::blosc2};
  return filter.id < H5Z_FILTER_RESERVED ||
         std::ranges::find(kStaying, filter.id) != kStaying.end();
}

// A list with what HDF5 sets for a dataset: when it fills data of variable length, and the
// parameters of filters that stay.
Id<Kind::plist> completed(hid_t type, hid_t dcpl, hid_t space) {
  if (is_plain(type, dcpl, space)) return shared(dcpl);
  Id<Kind::plist> list(h5.Pcopy(dcpl));
  if (!list) throw Error(root_cause());
  const Id<Kind::plist> native = native_list(type, dcpl, space);
  H5D_fill_time_t time = H5D_FILL_TIME_ERROR;
  if (h5.Pget_fill_time(native.get(), &time) < 0 || h5.Pset_fill_time(list.get(), time) < 0)
    throw Error(root_cause());
  auto filters = listed_filters(dcpl);
  const auto made = listed_filters(native.get());
  if (!filters || !made || *filters == *made || filters->size() != made->size()) return list;
  for (std::size_t i = 0; i < made->size(); ++i)
    if (stays((*made)[i])) (*filters)[i] = (*made)[i];
  set_filters(list.get(), *filters);
  return list;
}

// A program's parameters are among those that a filter has set: behind others (Bitshuffle, SZ), or
// between others (SPERR). Whether a run of them has passed.
template <typename Test>
bool try_parts(const std::vector<unsigned>& values, const Test& passes) {
  for (auto begin = values.begin(); begin != values.end(); ++begin)
    for (auto end = values.end(); end != begin; --end)
      if (passes(std::vector<unsigned>(begin, end))) return true;
  return passes(std::vector<unsigned>());
}

// What becomes of a filter where a dataset is made with a list that has these; none where it cannot
// be made.
std::optional<ListedFilter> set_for(hid_t type, hid_t list, hid_t space,
                                    const std::vector<ListedFilter>& filters, std::size_t which) {
  try {
    set_filters(list, filters);
    const auto made = listed_filters(native_list(type, list, space).get());
    if (made && made->size() == filters.size()) return (*made)[which];
    return std::nullopt;
  } catch (const Error&) {
    return std::nullopt;
  }
}

}  // namespace

Id<Kind::plist> told_list(hid_t type, Id<Kind::plist> list, hid_t space) {
  const auto filters = listed_filters(list.get());
  if (!filters || std::ranges::all_of(*filters, stays)) return list;
  const auto made = listed_filters(native_list(type, list.get(), space).get());
  if (made && made->size() == filters->size()) set_filters(list.get(), *made);
  return list;
}

Id<Kind::plist> asked_list(hid_t type, Id<Kind::plist> told, hid_t space) {
  const auto filters = listed_filters(told.get());
  if (!filters || std::ranges::all_of(*filters, stays)) return told;
  std::vector<ListedFilter> asked = *filters;
  for (std::size_t i = 0; i < asked.size(); ++i) {
    if (stays(asked[i])) continue;
    const bool found = try_parts((*filters)[i].values, [&](std::vector<unsigned> values) {
      asked[i].values = std::move(values);
      return set_for(type, told.get(), space, asked, i) == (*filters)[i];
    });
    if (!found) asked[i] = (*filters)[i];
  }
  set_filters(told.get(), asked);
  return told;
}

Id<Kind::plist> require_supported(hid_t type, hid_t dcpl, hid_t space, const std::string& name) {
  const std::string no = "dataset " + name + " cannot be created: ";
  if (h5.Pget_external_count(dcpl) > 0)
    throw Error(no + "a container has no elements in external files", ErrorKind::unsupported);
  try {
    return completed(type, dcpl, space);
  } catch (const Error& error) {
    throw Error(no + error.what(), error);
  }
}

}  // namespace headrace::object
