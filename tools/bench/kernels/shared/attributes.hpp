// Attributes as C programs write them.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

#include "hdf5.hpp"

namespace headrace::bench {

// The memory type of a number; HDF5 owns it.
template <typename T>
hid_t native_type() {
  if constexpr (std::is_same_v<T, double>) return H5T_NATIVE_DOUBLE;
  if constexpr (std::is_same_v<T, float>) return H5T_NATIVE_FLOAT;
  if constexpr (std::is_same_v<T, std::int8_t>) return H5T_NATIVE_INT8;
  if constexpr (std::is_same_v<T, std::int32_t>) return H5T_NATIVE_INT32;
  if constexpr (std::is_same_v<T, std::int64_t>) return H5T_NATIVE_INT64;
  if constexpr (std::is_same_v<T, std::uint64_t>) return H5T_NATIVE_UINT64;
}

// Collective; all throw Error with the name. `value` is in memory as `type` says.
void write_attribute(hid_t object, const std::string& name, hid_t type, hid_t space,
                     const void* value);
// One string of `size` bytes with the null that ends it; 0: just long enough.
void write_text(hid_t object, const std::string& name, std::string_view text, std::size_t size = 0);

// A one-dimensional array.
template <typename T>
void write_numbers(hid_t object, const std::string& name, std::span<const T> values) {
  const hsize_t count = values.size();
  const Handle space(H5Screate_simple(1, &count, nullptr), H5Sclose, "dataspace");
  write_attribute(object, name, native_type<T>(), space.get(), values.data());
}

// An array of one number.
template <typename T>
void write_number(hid_t object, const std::string& name, T value) {
  write_numbers<T>(object, name, std::span<const T>(&value, 1));
}

}  // namespace headrace::bench
