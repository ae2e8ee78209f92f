#include "layers/log/connector/replaying/type_text.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <string_view>
#include <vector>

namespace headrace::log_layout {
namespace {

using Text = std::unique_ptr<char, decltype(h5.free_memory)>;

std::string text_of(char* made_by_hdf5) {
  const Text text(made_by_hdf5, h5.free_memory);
  return text == nullptr ? "" : text.get();
}

std::string_view order_of(hid_t type) {
  switch (h5.Tget_order(type)) {
    case H5T_ORDER_LE:
      return "little-endian";
    case H5T_ORDER_BE:
      return "big-endian";
    case H5T_ORDER_VAX:
      return "VAX";
    default:
      return "unordered";
  }
}

// Where not all bits count.
std::string bits_of(hid_t type) {
  const std::size_t bits = h5.Tget_precision(type);
  if (bits == 8 * h5.Tget_size(type)) return {};
  return " of " + std::to_string(bits) + " bits from " + std::to_string(h5.Tget_offset(type));
}

std::string_view norm_of(hid_t type) {
  switch (h5.Tget_norm(type)) {
    case H5T_NORM_IMPLIED:
      return "implied";
    case H5T_NORM_MSBSET:
      return "set";
    default:
      return "any";
  }
}

std::string float_of(hid_t type) {
  std::size_t sign = 0;
  std::size_t exponent_at = 0;
  std::size_t exponent = 0;
  std::size_t mantissa_at = 0;
  std::size_t mantissa = 0;
  h5.Tget_fields(type, &sign, &exponent_at, &exponent, &mantissa_at, &mantissa);
  const auto field = [](std::size_t bits, std::size_t at) {
    return std::to_string(bits) + '@' + std::to_string(at);
  };
  return "float s" + std::to_string(sign) + " e" + field(exponent, exponent_at) + " bias " +
         std::to_string(h5.Tget_ebias(type)) + " m" + field(mantissa, mantissa_at) + ' ' +
         std::string(norm_of(type));
}

std::string string_of(hid_t type) {
  constexpr std::array<std::string_view, 3> kPaddings{"null-terminated", "null-padded",
                                                      "space-padded"};
  const auto padding = static_cast<std::size_t>(h5.Tget_strpad(type));
  const int characters = h5.Tget_cset(type);
  return "string " + std::string(padding < kPaddings.size() ? kPaddings.at(padding) : "padded") +
         (characters == H5T_CSET_ASCII  ? " ASCII"
          : characters == H5T_CSET_UTF8 ? " UTF-8"
                                        : " characters " + std::to_string(characters));
}

std::string super_of(hid_t type) {
  const Id<Kind::datatype> super(h5.Tget_super(type));
  return describe_type(super.get());
}

std::string array_of(hid_t type) {
  std::array<hsize_t, H5S_MAX_RANK> extent{};
  const int rank = h5.Tget_array_dims2(type, extent.data());
  std::string text = "array of ";
  for (int d = 0; d < rank; ++d)
    text += std::to_string(extent.at(static_cast<std::size_t>(d))) + (d + 1 < rank ? " x " : " ");
  return text + super_of(type);
}

std::string members_of(hid_t type) {
  const int count = h5.Tget_nmembers(type);
  std::string text;
  for (unsigned i = 0; count > 0 && i < static_cast<unsigned>(count); ++i) {
    const Id<Kind::datatype> member(h5.Tget_member_type(type, i));
    text += (i == 0 ? "" : ", ") + text_of(h5.Tget_member_name(type, i)) + " at " +
            std::to_string(h5.Tget_member_offset(type, i)) + ": " + describe_type(member.get());
  }
  return text;
}

// By name: HDF5 may tell them in any order.
std::string values_of(hid_t type) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  const int count = h5.Tget_nmembers(type);
  std::vector<std::string> values;
  std::vector<unsigned char> bytes(h5.Tget_size(type));
  for (unsigned i = 0; count > 0 && i < static_cast<unsigned>(count); ++i) {
    h5.Tget_member_value(type, i, bytes.data());
    std::string& text = values.emplace_back(text_of(h5.Tget_member_name(type, i)) + " = ");
    for (const unsigned char byte : bytes) {
      text += kDigits[byte >> 4U];
      text += kDigits[byte & 15U];
    }
  }
  std::ranges::sort(values);
  std::string text;
  for (const std::string& value : values) text += (text.empty() ? "" : ", ") + value;
  return text;
}

}  // namespace

std::string describe_type(hid_t type) {
  const std::string size = std::to_string(h5.Tget_size(type)) + "-byte ";
  switch (h5.Tget_class(type)) {
    case H5T_INTEGER:
      return size + std::string(order_of(type)) +
             (h5.Tget_sign(type) == H5T_SGN_NONE ? " unsigned" : " signed") + " integer" +
             bits_of(type);
    case H5T_FLOAT:
      return size + std::string(order_of(type)) + ' ' + float_of(type) + bits_of(type);
    case H5T_BITFIELD:
      return size + std::string(order_of(type)) + " bit field" + bits_of(type);
    case H5T_STRING:
      return size + string_of(type);
    case H5T_ENUM:
      return size + "enumeration of " + super_of(type) + " (" + values_of(type) + ')';
    case H5T_ARRAY:
      return size + array_of(type);
    case H5T_COMPOUND:
      return size + "compound (" + members_of(type) + ')';
    case H5T_OPAQUE:
      return size + "opaque \"" + text_of(h5.Tget_tag(type)) + '"';
    default:  // not logged
      return size + "class " + std::to_string(h5.Tget_class(type));
  }
}

}  // namespace headrace::log_layout
