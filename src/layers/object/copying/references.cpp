#include "layers/object/copying/references.hpp"

#include <cstring>

#include "base/error.hpp"

namespace headrace::object {
namespace {

// What elements of a type are made of: calls `visit` with each type and its place in an element.
template <typename Visit>
void each_part(hid_t type, const Visit& visit) {
  const H5T_class_t kind = h5.Tget_class(type);
  if (kind == H5T_ARRAY || kind == H5T_VLEN) {
    const Id<Kind::datatype> base(h5.Tget_super(type));
    visit(base.get(), std::size_t{0});
  }
  const int members = kind == H5T_COMPOUND ? h5.Tget_nmembers(type) : 0;
  for (int i = 0; i < members; ++i) {
    const auto member = static_cast<unsigned>(i);
    const Id<Kind::datatype> its(h5.Tget_member_type(type, member));
    visit(its.get(), h5.Tget_member_offset(type, member));
  }
}

void replace_one(hid_t type, std::byte* element, const NewToken& new_token) {
  const H5T_class_t kind = h5.Tget_class(type);
  if (kind == H5T_REFERENCE) {
    std::uint64_t token = 0;
    std::memcpy(&token, element, sizeof token);
    if (token != 0) token = new_token(token);
    std::memcpy(element, &token, sizeof token);
    return;
  }
  each_part(type, [&](hid_t part, std::size_t offset) {
    if (!has_references(part)) return;
    if (kind == H5T_ARRAY)
      return replace_references(part, element, h5.Tget_size(type) / h5.Tget_size(part), new_token);
    if (kind != H5T_VLEN) return replace_one(part, element + offset, new_token);
    hvl_t sequence;
    std::memcpy(&sequence, element, sizeof sequence);
    replace_references(part, static_cast<std::byte*>(sequence.p), sequence.len, new_token);
  });
}

}  // namespace

bool has_references(hid_t type) { return h5.Tdetect_class(type, H5T_REFERENCE) > 0; }

void require_object_references(hid_t type, const std::string& what) {
  if (!has_references(type)) return;
  if (h5.Tget_class(type) == H5T_REFERENCE && h5.Tget_size(type) != sizeof(hobj_ref_t))
    throw Error(what +
                    " cannot be copied to a file of another kind: only references to objects, "
                    "as HDF5 1.8 has them, can",
                ErrorKind::unsupported);
  each_part(type, [&](hid_t part, std::size_t) { require_object_references(part, what); });
}

void replace_references(hid_t type, std::byte* elements, std::size_t count,
                        const NewToken& new_token) {
  const std::size_t size = h5.Tget_size(type);
  for (std::size_t i = 0; i < count; ++i) replace_one(type, elements + i * size, new_token);
}

}  // namespace headrace::object
