#include "layers/object/regions/sequence_type.hpp"

#include <array>
#include <charconv>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "hdf5/error_stack.hpp"
#include "layers/object/regions/regions.hpp"

namespace headrace::object {
namespace {

constexpr std::string_view kTag = "headrace region reference of file ";

using Type = Id<Kind::datatype>;
using Text = std::unique_ptr<char, herr_t (*)(void*)>;

Type made(hid_t id) {
  Type type(id);
  if (!type) throw Error("HDF5 makes no type: " + root_cause());
  return type;
}

Type sequence(std::uint64_t file) {
  const Type byte = made(h5.Tcreate(H5T_OPAQUE, 1));
  if (h5.Tset_tag(byte.get(), (std::string(kTag) + std::to_string(file)).c_str()) < 0)
    throw Error("HDF5 names no type: " + root_cause());
  return made(h5.Tvlen_create(byte.get()));
}

Type array(hid_t type, std::uint64_t file) {
  std::array<hsize_t, H5S_MAX_RANK> dims{};
  const int rank = h5.Tget_array_dims2(type, dims.data());
  if (rank < 0) throw Error("HDF5 does not tell of an array: " + root_cause());
  const Type base = with_sequences(made(h5.Tget_super(type)).get(), file);
  return made(h5.Tarray_create2(base.get(), static_cast<unsigned>(rank), dims.data()));
}

struct Member {
  std::string name;
  Type type;
  std::size_t offset;
  std::size_t growth;
};

Type compound(hid_t type, std::uint64_t file) {
  std::vector<Member> members;
  std::size_t size = h5.Tget_size(type);
  const int count = h5.Tget_nmembers(type);
  for (int i = 0; i < count; ++i) {
    const auto member = static_cast<unsigned>(i);
    const Type old = made(h5.Tget_member_type(type, member));
    Type its = with_sequences(old.get(), file);
    const std::size_t growth = h5.Tget_size(its.get()) - h5.Tget_size(old.get());
    const Text name(h5.Tget_member_name(type, member), h5.free_memory);
    if (name == nullptr) throw Error("HDF5 does not name a member of a type: " + root_cause());
    members.push_back({name.get(), std::move(its), h5.Tget_member_offset(type, member), growth});
    size += growth;
  }
  Type grown = made(h5.Tcreate(H5T_COMPOUND, size));
  for (const Member& one : members) {
    std::size_t offset = one.offset;
    for (const Member& other : members)
      if (other.offset < one.offset) offset += other.growth;
    if (h5.Tinsert(grown.get(), one.name.c_str(), offset, one.type.get()) < 0)
      throw Error("HDF5 takes no member into a type: " + root_cause());
  }
  return grown;
}

}  // namespace

bool has_region_references(hid_t type) {
  const H5T_class_t kind = h5.Tget_class(type);
  if (kind == H5T_REFERENCE) return h5.Tget_size(type) == sizeof(hdset_reg_ref_t);
  if (kind != H5T_COMPOUND && kind != H5T_ARRAY && kind != H5T_VLEN) return false;
  if (h5.Tdetect_class(type, H5T_REFERENCE) <= 0) return false;
  if (kind != H5T_COMPOUND) return has_region_references(made(h5.Tget_super(type)).get());
  const int members = h5.Tget_nmembers(type);
  for (int i = 0; i < members; ++i)
    if (has_region_references(made(h5.Tget_member_type(type, static_cast<unsigned>(i))).get()))
      return true;
  return false;
}

Id<Kind::datatype> with_sequences(hid_t type, std::uint64_t file) {
  if (!has_region_references(type)) return made(h5.Tcopy(type));
  const H5T_class_t kind = h5.Tget_class(type);
  if (kind == H5T_REFERENCE) return sequence(file);
  if (kind == H5T_ARRAY) return array(type, file);
  if (kind == H5T_COMPOUND) return compound(type, file);
  return made(h5.Tvlen_create(with_sequences(made(h5.Tget_super(type)).get(), file).get()));
}

std::optional<std::uint64_t> file_of_sequences(hid_t type) {
  if (h5.Tget_class(type) != H5T_VLEN) return std::nullopt;
  const Type base(h5.Tget_super(type));
  if (!base || h5.Tget_class(base.get()) != H5T_OPAQUE) return std::nullopt;
  const Text tag(h5.Tget_tag(base.get()), h5.free_memory);
  if (tag == nullptr) return std::nullopt;
  std::string_view text = tag.get();
  if (!text.starts_with(kTag)) return std::nullopt;
  text.remove_prefix(kTag.size());
  std::uint64_t number = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  if (read.ec != std::errc{} || read.ptr != text.data() + text.size()) return std::nullopt;
  return number;
}

}  // namespace headrace::object
