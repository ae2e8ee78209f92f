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

template <typename Reference, typename Replace>
void replace_with(std::byte* element, const Replace& replace) {
  Reference reference;
  std::memcpy(&reference, element, sizeof reference);
  const Reference none{};
  if (std::memcmp(&reference, &none, sizeof reference) != 0) reference = replace(reference);
  std::memcpy(element, &reference, sizeof reference);
}

void replace_one(hid_t type, std::byte* element, const NewReferences& anew) {
  const H5T_class_t kind = h5.Tget_class(type);
  if (kind == H5T_REFERENCE && h5.Tget_size(type) == sizeof(hdset_reg_ref_t))
    return replace_with<hdset_reg_ref_t>(element, anew.region);
  if (kind == H5T_REFERENCE) return replace_with<std::uint64_t>(element, anew.object);
  each_part(type, [&](hid_t part, std::size_t offset) {
    if (!has_references(part)) return;
    if (kind == H5T_ARRAY)
      return replace_references(part, element, h5.Tget_size(type) / h5.Tget_size(part), anew);
    if (kind != H5T_VLEN) return replace_one(part, element + offset, anew);
    hvl_t sequence;
    std::memcpy(&sequence, element, sizeof sequence);
    replace_references(part, static_cast<std::byte*>(sequence.p), sequence.len, anew);
  });
}

}  // namespace

bool has_references(hid_t type) { return h5.Tdetect_class(type, H5T_REFERENCE) > 0; }

void require_old_references(hid_t type, const std::string& what) {
  if (!has_references(type)) return;
  const std::size_t size = h5.Tget_size(type);
  if (h5.Tget_class(type) == H5T_REFERENCE && size != sizeof(hobj_ref_t) &&
      size != sizeof(hdset_reg_ref_t))
    throw Error(
        what + " cannot be copied to another file: of references only those of HDF5 1.8 can",
        ErrorKind::unsupported);
  each_part(type, [&](hid_t part, std::size_t) { require_old_references(part, what); });
}

void replace_references(hid_t type, std::byte* elements, std::size_t count,
                        const NewReferences& anew) {
  const std::size_t size = h5.Tget_size(type);
  for (std::size_t i = 0; i < count; ++i) replace_one(type, elements + i * size, anew);
}

}  // namespace headrace::object
