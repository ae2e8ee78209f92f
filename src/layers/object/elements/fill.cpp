#include "layers/object/elements/fill.hpp"

#include <algorithm>
#include <cstring>

#include "base/error.hpp"
#include "hdf5/error_stack.hpp"
#include "vol/dataset/elements.hpp"

namespace headrace::object {
namespace {

H5D_fill_value_t fill_in(hid_t dcpl) {
  H5D_fill_value_t defined = H5D_FILL_VALUE_ERROR;
  if (h5.Pfill_value_defined(dcpl, &defined) < 0)
    throw Error("HDF5 does not tell of a fill value: " + root_cause());
  return defined;
}

// What it leads to is the list's own: nothing of it is freed.
std::vector<std::byte> program_fill(hid_t type, hid_t file_type, hid_t dcpl) {
  std::vector<std::byte> element(std::max(h5.Tget_size(type), h5.Tget_size(file_type)));
  if (h5.Pget_fill_value(dcpl, type, element.data()) < 0)
    throw Error("the fill value cannot be read: " + root_cause());
  return element;
}

void convert_fill(hid_t from, hid_t to, std::vector<std::byte>& element) {
  std::vector<std::byte> background(element.size());
  if (h5.Tconvert(from, to, 1, element.data(), background.data(), kDefaultPlist) < 0)
    throw Error("the fill value does not convert: " + root_cause());
}

}  // namespace

Id<Kind::plist> shared(hid_t list) {
  if (h5.Iinc_ref(list) < 0) throw Error("a property list is gone: " + root_cause());
  return Id<Kind::plist>(list);
}

StoredCreation stored_creation(hid_t type, hid_t file_type, hid_t dcpl) {
  StoredCreation stored;
  if (fill_in(dcpl) != H5D_FILL_VALUE_USER_DEFINED) {
    stored.list = shared(dcpl);
    return stored;
  }
  stored.list = Id<Kind::plist>(h5.Pcopy(dcpl));
  if (!stored.list) throw Error("HDF5 does not copy a creation list: " + root_cause());
  std::vector<std::byte> element = program_fill(type, file_type, dcpl);
  // A list may have it in another type, which may be of variable length where the dataset's is not.
  if (vol::is_flat(file_type)) {
    if (h5.Pset_fill_value(stored.list.get(), type, element.data()) < 0)
      throw Error("HDF5 does not take a fill value: " + root_cause());
    return stored;
  }
  convert_fill(type, file_type, element);
  stored.data.emplace(reinterpret_cast<const char*>(element.data()), h5.Tget_size(file_type));
  if (h5.Pset_fill_value(stored.list.get(), type, nullptr) < 0)
    throw Error("HDF5 does not take a fill value out of a list: " + root_cause());
  return stored;
}

void restore_fill(const objects::Header& header, hid_t type, hid_t file_type, hid_t dcpl) {
  if (!keeps_fill(file_type, dcpl) || !header.data) return;
  std::vector<std::byte> element(std::as_bytes(std::span(*header.data)).begin(),
                                 std::as_bytes(std::span(*header.data)).end());
  element.resize(std::max(h5.Tget_size(type), element.size()));
  convert_fill(file_type, type, element);
  const bool is_set = h5.Pset_fill_value(dcpl, type, element.data()) >= 0;  // a copy of it
  const std::string cause = is_set ? "" : root_cause();
  constexpr hsize_t kOne = 1;
  const Id<Kind::dataspace> one(h5.Screate_simple(1, &kOne, nullptr));
  h5.Treclaim(type, one.get(), kDefaultPlist, element.data());
  if (!is_set) throw Error("HDF5 does not take a fill value: " + cause);
}

bool keeps_fill(hid_t file_type, hid_t dcpl) {
  return !vol::is_flat(file_type) && fill_in(dcpl) == H5D_FILL_VALUE_UNDEFINED;
}

std::vector<std::byte> fill_of(const objects::Header& header, hid_t type, hid_t file_type,
                               hid_t dcpl) {
  const std::size_t size = h5.Tget_size(file_type);
  std::vector<std::byte> element(size);
  H5D_fill_time_t time = H5D_FILL_TIME_IFSET;
  if (h5.Pget_fill_time(dcpl, &time) >= 0 && time == H5D_FILL_TIME_NEVER) return element;
  if (keeps_fill(file_type, dcpl)) {
    if (!header.data) return element;
    if (header.data->size() != size) throw Error("the fill value is cut off", ErrorKind::corrupt);
    std::memcpy(element.data(), header.data->data(), size);
  } else if (vol::is_flat(file_type) && fill_in(dcpl) == H5D_FILL_VALUE_USER_DEFINED) {
    element = program_fill(type, file_type, dcpl);
    convert_fill(type, file_type, element);
    element.resize(size);
  }
  return element;
}

}  // namespace headrace::object
