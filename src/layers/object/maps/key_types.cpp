#include "layers/object/maps/key_types.hpp"

#include <string>

#include "base/error.hpp"
#include "hdf5/error_stack.hpp"
#include "hdf5/id.hpp"

namespace headrace::object {
namespace {

using objects::KeyField;
using FieldKind = KeyField::Kind;

constexpr std::size_t kMostInteger = 16;  // bytes

[[noreturn]] void fail_as_key(const std::string& why) {
  throw Error("keys of a map cannot be " + why, ErrorKind::unsupported);
}

bool is_big(hid_t type) { return h5.Tget_order(type) == H5T_ORDER_BE; }

// Whether all bits of an element count, and its bytes are in one of two orders.
bool is_whole(hid_t type, std::size_t size) {
  const H5T_order_t order = h5.Tget_order(type);
  return h5.Tget_precision(type) == 8 * size && h5.Tget_offset(type) == 0 && size <= kMostInteger &&
         (order == H5T_ORDER_LE || order == H5T_ORDER_BE || size == 1);
}

KeyField integer(hid_t type, std::size_t offset, std::size_t size) {
  if (!is_whole(type, size)) fail_as_key("integers with bits that do not count");
  const bool has_sign = h5.Tget_class(type) != H5T_BITFIELD && h5.Tget_sign(type) == H5T_SGN_2;
  return {has_sign ? FieldKind::integer : FieldKind::whole, is_big(type), 0, offset, size};
}

// The sign above the exponent above the fraction: their bits are in the order of numbers.
KeyField real(hid_t type, std::size_t offset, std::size_t size) {
  std::size_t sign = 0;
  std::size_t exponent_at = 0;
  std::size_t exponent = 0;
  std::size_t fraction_at = 0;
  std::size_t fraction = 0;
  const bool is_plain =
      is_whole(type, size) &&
      h5.Tget_fields(type, &sign, &exponent_at, &exponent, &fraction_at, &fraction) >= 0 &&
      fraction_at == 0 && exponent_at == fraction && sign == fraction + exponent &&
      sign + 1 == 8 * size && exponent > 0 && exponent <= 32;
  if (!is_plain || h5.Tget_norm(type) != H5T_NORM_IMPLIED)
    fail_as_key("floats of another form than IEEE's");
  return {FieldKind::real, is_big(type), static_cast<std::uint8_t>(exponent), offset, size};
}

FieldKind kind_of_text(hid_t type) {
  if (h5.Tis_variable_str(type) > 0) return FieldKind::text;
  switch (h5.Tget_strpad(type)) {
    case H5T_STR_NULLTERM:
      return FieldKind::null_terminated;
    case H5T_STR_SPACEPAD:
      return FieldKind::space_padded;
    default:
      return FieldKind::null_padded;
  }
}

void add_fields(hid_t type, std::size_t offset, std::vector<KeyField>& fields);

void add_members(hid_t type, std::size_t offset, std::vector<KeyField>& fields) {
  const int members = h5.Tget_nmembers(type);
  for (int i = 0; i < members; ++i) {
    const auto member = static_cast<unsigned>(i);
    const Id<Kind::datatype> its(h5.Tget_member_type(type, member));
    add_fields(its.get(), offset + h5.Tget_member_offset(type, member), fields);
  }
}

void add_elements(hid_t type, std::size_t offset, std::vector<KeyField>& fields) {
  const Id<Kind::datatype> base(h5.Tget_super(type));
  const std::size_t size = h5.Tget_size(base.get());
  if (size == 0) throw Error("an array has no elements: " + root_cause());
  const std::size_t count = h5.Tget_size(type) / size;
  for (std::size_t i = 0; i < count && fields.size() <= objects::kMostKeyFields; ++i)
    add_fields(base.get(), offset + i * size, fields);
}

void add_fields(hid_t type, std::size_t offset, std::vector<KeyField>& fields) {
  const std::size_t size = h5.Tget_size(type);
  switch (h5.Tget_class(type)) {
    case H5T_INTEGER:
    case H5T_BITFIELD:
      return fields.push_back(integer(type, offset, size));
    case H5T_ENUM:
      return add_fields(Id<Kind::datatype>(h5.Tget_super(type)).get(), offset, fields);
    case H5T_FLOAT:
      return fields.push_back(real(type, offset, size));
    case H5T_STRING:
      return fields.push_back({kind_of_text(type), false, 0, offset, size});
    case H5T_OPAQUE:
      return fields.push_back({FieldKind::bytes, false, 0, offset, size});
    case H5T_COMPOUND:
      return add_members(type, offset, fields);
    case H5T_ARRAY:
      return add_elements(type, offset, fields);
    default:
      fail_as_key("of this class of types, as it has no order");
  }
}

}  // namespace

objects::KeyForm key_form(hid_t type) {
  objects::KeyForm form;
  form.size = h5.Tget_size(type);
  if (form.size == 0) throw Error("the type of keys has no size: " + root_cause());
  add_fields(type, 0, form.fields);
  if (form.size > objects::kMostKeySize || form.fields.size() > objects::kMostKeyFields)
    fail_as_key("as large as this: at most " + std::to_string(objects::kMostKeySize) +
                " bytes, of " + std::to_string(objects::kMostKeyFields) + " parts");
  return form;
}

}  // namespace headrace::object
