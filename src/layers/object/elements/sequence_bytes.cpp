#include "layers/object/elements/sequence_bytes.hpp"

#include <cstring>

#include "vol/dataset/elements.hpp"

namespace headrace::object {
namespace {

// Of elements that lie one after the other.
std::uint64_t bytes_of_all(hid_t type, const std::byte* first, std::size_t count) {
  if (count == 0 || vol::is_flat(type)) return 0;
  const std::size_t size = h5.Tget_size(type);
  std::uint64_t bytes = 0;
  for (std::size_t i = 0; i < count; ++i) bytes += sequence_bytes(type, first + i * size);
  return bytes;
}

std::uint64_t bytes_of_members(hid_t type, const std::byte* element) {
  std::uint64_t bytes = 0;
  const int members = h5.Tget_nmembers(type);
  for (int i = 0; i < members; ++i) {
    const auto member = static_cast<unsigned>(i);
    const Id<Kind::datatype> its(h5.Tget_member_type(type, member));
    bytes += bytes_of_all(its.get(), element + h5.Tget_member_offset(type, member), 1);
  }
  return bytes;
}

}  // namespace

std::uint64_t sequence_bytes(hid_t type, const void* element) {
  const auto* const bytes = static_cast<const std::byte*>(element);
  const H5T_class_t kind = h5.Tget_class(type);
  if (kind == H5T_COMPOUND) return bytes_of_members(type, bytes);
  if (kind == H5T_STRING) {
    if (h5.Tis_variable_str(type) <= 0) return 0;
    const char* text = nullptr;
    std::memcpy(static_cast<void*>(&text), element, sizeof text);
    return text == nullptr ? 0 : std::strlen(text) + 1;
  }
  if (kind != H5T_VLEN && kind != H5T_ARRAY) return 0;
  const Id<Kind::datatype> base(h5.Tget_super(type));
  const std::size_t size = h5.Tget_size(base.get());
  if (kind == H5T_ARRAY) return bytes_of_all(base.get(), bytes, h5.Tget_size(type) / size);
  hvl_t sequence;
  std::memcpy(&sequence, element, sizeof sequence);
  return sequence.len * size +
         bytes_of_all(base.get(), static_cast<const std::byte*>(sequence.p), sequence.len);
}

}  // namespace headrace::object
