#include "connectors/log/logged.hpp"

#include <algorithm>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "base/error.hpp"

namespace headrace::log_layout {
namespace {

using engine::log::LoggedDataset;

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

std::string float_of(hid_t type) {
  std::size_t sign = 0;
  std::size_t exponent_at = 0;
  std::size_t exponent = 0;
  std::size_t mantissa_at = 0;
  std::size_t mantissa = 0;
  h5.Tget_fields(type, &sign, &exponent_at, &exponent, &mantissa_at, &mantissa);
  return "float e" + std::to_string(exponent) + " m" + std::to_string(mantissa);
}

std::string words_of(hid_t type);

std::string super_of(hid_t type) {
  const Id<Kind::datatype> super(h5.Tget_super(type));
  return words_of(super.get());
}

std::string members_of(hid_t type) {
  const int count = h5.Tget_nmembers(type);
  std::string text;
  for (unsigned i = 0; count > 0 && i < static_cast<unsigned>(count); ++i) {
    const std::unique_ptr<char, decltype(h5.free_memory)> name(h5.Tget_member_name(type, i),
                                                               h5.free_memory);
    const Id<Kind::datatype> member(h5.Tget_member_type(type, i));
    text += (i == 0 ? "" : ", ") + std::string(name == nullptr ? "" : name.get()) + " at " +
            std::to_string(h5.Tget_member_offset(type, i)) + ": " + words_of(member.get());
  }
  return text;
}

// Equal for types that give the bytes of an element the same meaning, in all versions of HDF5.
std::string words_of(hid_t type) {
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
      return size + "string";
    case H5T_ENUM:
      return size + "enumeration of " + super_of(type);
    case H5T_ARRAY:
      return size + "array of " + super_of(type);
    case H5T_COMPOUND:
      return size + "compound (" + members_of(type) + ')';
    default:
      return size + "opaque";
  }
}

// The slowest dimension may have grown since.
std::string shape_of(std::string slowest, std::span<const std::uint64_t> row) {
  for (const std::uint64_t extent : row) slowest += " x " + std::to_string(extent);
  return slowest;
}

std::span<const std::uint64_t> row_of(const Dataset& dataset) {
  return std::span(dataset.dims).first(dataset.rank).subspan(1);
}

}  // namespace

LoggedDataset logged_as(const Dataset& dataset, std::string name) {
  LoggedDataset logged;
  logged.element = dataset.element;
  std::ranges::copy(std::as_bytes(std::span(&dataset.identity.token, 1)), logged.token.begin());
  logged.name = std::move(name);
  logged.type = words_of(dataset.type.get());
  const auto row = row_of(dataset);
  logged.row.assign(row.begin(), row.end());
  return logged;
}

void require_fit(const Dataset& dataset, const LoggedDataset& logged,
                 const engine::log::Layers& layers, const std::string& file) {
  const auto differ = [&](const std::string& what, const std::string& here,
                          const std::string& there) {
    throw Error("dataset " + logged.name + " of file " + file + " has " + what + ' ' + here +
                ", but in its log " + there);
  };
  const LoggedDataset found = logged_as(dataset, {});
  if (found.type != logged.type || found.element != logged.element)
    differ("elements:", found.type, logged.type);
  if (found.row != logged.row)
    differ("extent", shape_of(std::to_string(dataset.dims[0]), found.row),
           shape_of("any", logged.row));
  if (layers.end() > engine::volume(dataset.rank, dataset.dims))
    differ("extent", shape_of(std::to_string(dataset.dims[0]), found.row),
           std::to_string(layers.end()) + " elements");
}

}  // namespace headrace::log_layout
