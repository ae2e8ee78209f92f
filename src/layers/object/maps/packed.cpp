#include "layers/object/maps/packed.hpp"

#include <cstdlib>
#include <cstring>
#include <new>

#include "base/error.hpp"
#include "hdf5/id.hpp"
#include "objects/format/fields.hpp"
#include "vol/dataset/elements.hpp"

namespace headrace::object {
namespace {

using objects::fail_damaged;

constexpr const char* kWhat = "a value of a map";

// Calls act(type, offset, count, size) for each part of a type that is none of variable length
// itself: members, and the elements of an array.
template <typename Act>
void each_part(hid_t type, const Act& act) {
  if (h5.Tget_class(type) == H5T_ARRAY) {
    const Id<Kind::datatype> base(h5.Tget_super(type));
    const std::size_t size = h5.Tget_size(base.get());
    act(base.get(), std::size_t{0}, h5.Tget_size(type) / size);
    return;
  }
  const int members = h5.Tget_nmembers(type);
  for (int i = 0; i < members; ++i) {
    const auto member = static_cast<unsigned>(i);
    const Id<Kind::datatype> its(h5.Tget_member_type(type, member));
    act(its.get(), h5.Tget_member_offset(type, member), std::size_t{1});
  }
}

void put_elements(std::string& bytes, hid_t type, const std::byte* first, std::size_t count);

void put_element(std::string& bytes, hid_t type, const std::byte* element) {
  if (h5.Tget_class(type) == H5T_STRING) {
    const char* text = nullptr;
    std::memcpy(static_cast<void*>(&text), element, sizeof text);
    // 0 is none at all.
    objects::put_varint(bytes, text == nullptr ? 0 : std::strlen(text) + 1);
    if (text != nullptr) bytes += text;
  } else if (h5.Tget_class(type) == H5T_VLEN) {
    hvl_t sequence;
    std::memcpy(&sequence, element, sizeof sequence);
    objects::put_varint(bytes, sequence.len);
    const Id<Kind::datatype> base(h5.Tget_super(type));
    put_elements(bytes, base.get(), static_cast<const std::byte*>(sequence.p), sequence.len);
  } else {
    each_part(type, [&](hid_t part, std::size_t offset, std::size_t count) {
      put_elements(bytes, part, element + offset, count);
    });
  }
}

void put_elements(std::string& bytes, hid_t type, const std::byte* first, std::size_t count) {
  if (count == 0) return;
  const std::size_t size = h5.Tget_size(type);
  if (vol::is_flat(type))
    bytes.append(reinterpret_cast<const char*>(first), count * size);
  else
    for (std::size_t i = 0; i < count; ++i) put_element(bytes, type, first + i * size);
}

std::byte* allocated(std::size_t count, std::size_t size) {
  auto* const memory = static_cast<std::byte*>(std::calloc(count, size));
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

void take_elements(std::string_view& bytes, hid_t type, std::byte* first, std::size_t count);

void take_text(std::string_view& bytes, std::byte* element) {
  const std::uint64_t told = objects::take_varint(bytes);
  if (told == 0) return;
  if (told - 1 > bytes.size()) fail_damaged(kWhat);
  std::byte* const text = allocated(told, 1);
  std::memcpy(element, static_cast<const void*>(&text), sizeof text);
  std::memcpy(text, bytes.data(), told - 1);
  bytes.remove_prefix(told - 1);
}

void take_sequence(std::string_view& bytes, hid_t type, std::byte* element) {
  const Id<Kind::datatype> base(h5.Tget_super(type));
  const std::size_t size = h5.Tget_size(base.get());
  hvl_t sequence{};
  sequence.len = objects::take_varint(bytes);
  // An element takes a byte or more.
  if (sequence.len > bytes.size()) fail_damaged(kWhat);
  if (sequence.len == 0) return;
  sequence.p = allocated(sequence.len, size);
  std::memcpy(element, &sequence, sizeof sequence);
  take_elements(bytes, base.get(), static_cast<std::byte*>(sequence.p), sequence.len);
}

void take_element(std::string_view& bytes, hid_t type, std::byte* element) {
  if (h5.Tget_class(type) == H5T_STRING) {
    take_text(bytes, element);
  } else if (h5.Tget_class(type) == H5T_VLEN) {
    take_sequence(bytes, type, element);
  } else {
    each_part(type, [&](hid_t part, std::size_t offset, std::size_t count) {
      take_elements(bytes, part, element + offset, count);
    });
  }
}

void take_elements(std::string_view& bytes, hid_t type, std::byte* first, std::size_t count) {
  const std::size_t size = h5.Tget_size(type);
  if (!vol::is_flat(type)) {
    for (std::size_t i = 0; i < count; ++i) take_element(bytes, type, first + i * size);
    return;
  }
  if (count > bytes.size() / size) fail_damaged(kWhat);
  std::memcpy(first, bytes.data(), count * size);
  bytes.remove_prefix(count * size);
}

}  // namespace

void require_packable(hid_t type) {
  if (h5.Tget_size(type) == 0) throw Error("the type of values has no size");
  if (h5.Tdetect_class(type, H5T_REFERENCE) > 0)
    throw Error("values of a map cannot be references", ErrorKind::unsupported);
  if (h5.Tdetect_class(type, H5T_TIME) > 0)
    throw Error("values of a map cannot be times", ErrorKind::unsupported);
}

std::string packed(hid_t type, const std::byte* element) {
  std::string bytes;
  put_elements(bytes, type, element, 1);
  return bytes;
}

void unpack(hid_t type, std::string_view bytes, std::span<std::byte> element) {
  take_elements(bytes, type, element.data(), 1);
  if (!bytes.empty()) fail_damaged(kWhat);
}

}  // namespace headrace::object
