#include "kernels/particles/record.hpp"

#include <algorithm>
#include <cstring>

#include "base/error.hpp"
#include "pattern.hpp"

namespace headrace::bench::particles {
namespace {

std::size_t round_up(std::size_t size, std::size_t multiple) {
  return (size + multiple - 1) / multiple * multiple;
}

Handle compound(std::size_t size) {
  return {H5Tcreate(H5T_COMPOUND, size), H5Tclose, "compound type"};
}

void insert(const Handle& type, const Variable& variable, std::size_t offset, hid_t member) {
  const std::string name(variable.name);
  check(H5Tinsert(type.get(), name.c_str(), offset, member), "insert " + name);
}

// Calls action(element of the dataset, place in the buffer) for each.
template <typename Byte, typename Action>
void each_element(Byte* buffer, std::size_t step, const Pick& pick, const Action& action) {
  for (hsize_t block = 0; block < pick.blocks; ++block) {
    const hsize_t first = pick.first + block * pick.stride;
    for (hsize_t i = 0; i < pick.block; ++i, buffer += step) action(first + i, buffer);
  }
}

template <typename T>
void fill_as(std::byte* buffer, std::size_t step, std::uint64_t key, const Pick& pick) {
  each_element(buffer, step, pick, [key](std::uint64_t index, std::byte* to) {
    const T element = value<T>(key, index);
    std::memcpy(to, &element, sizeof element);
  });
}

template <typename T>
void verify_as(const std::byte* buffer, std::size_t step, std::uint64_t key, const Pick& pick,
               std::string_view where) {
  each_element(buffer, step, pick, [key, where](std::uint64_t index, const std::byte* from) {
    T found;
    std::memcpy(&found, from, sizeof found);
    verify_one(found, value<T>(key, index), index, where);
  });
}

}  // namespace

std::size_t size_of(Scalar scalar) {
  switch (scalar) {
    case Scalar::i64:
      return 8;
    case Scalar::u16:
      return 2;
    default:
      return 4;
  }
}

hid_t file_type(Scalar scalar) {
  switch (scalar) {
    case Scalar::f32:
      return H5T_IEEE_F32LE;
    case Scalar::i32:
      return H5T_STD_I32LE;
    case Scalar::i64:
      return H5T_STD_I64LE;
    default:
      return H5T_STD_U16LE;
  }
}

hid_t memory_type(Scalar scalar) {
  switch (scalar) {
    case Scalar::f32:
      return H5T_NATIVE_FLOAT;
    case Scalar::i32:
      return H5T_NATIVE_INT32;
    case Scalar::i64:
      return H5T_NATIVE_INT64;
    default:
      return H5T_NATIVE_UINT16;
  }
}

Record::Record(std::vector<Variable> variables) : variables_(std::move(variables)) {
  std::size_t alignment = 1;
  for (const Variable& variable : variables_) {
    const std::size_t size = size_of(variable.scalar);
    alignment = std::max(alignment, size);
    packed_.push_back(packed_size_);
    packed_size_ += size;
    aligned_.push_back(round_up(memory_size_, size));
    memory_size_ = aligned_.back() + size;
  }
  memory_size_ = round_up(memory_size_, alignment);
}

Handle Record::file_compound() const {
  Handle type = compound(packed_size_);
  for (std::size_t i = 0; i < variables_.size(); ++i)
    insert(type, variables_[i], packed_[i], file_type(variables_[i].scalar));
  return type;
}

Handle Record::memory_compound() const {
  Handle type = compound(memory_size_);
  for (std::size_t i = 0; i < variables_.size(); ++i)
    insert(type, variables_[i], aligned_[i], memory_type(variables_[i].scalar));
  return type;
}

Handle Record::file_member(std::size_t i) const {
  Handle type = compound(size_of(variables_[i].scalar));
  insert(type, variables_[i], 0, file_type(variables_[i].scalar));
  return type;
}

Handle Record::packed_memory_member(std::size_t i) const {
  Handle type = compound(size_of(variables_[i].scalar));
  insert(type, variables_[i], 0, memory_type(variables_[i].scalar));
  return type;
}

Handle Record::memory_member(std::size_t i) const {
  Handle type = compound(memory_size_);
  insert(type, variables_[i], aligned_[i], memory_type(variables_[i].scalar));
  return type;
}

Handle Pick::file_space(hsize_t total) const {
  Handle space(H5Screate_simple(1, &total, nullptr), H5Sclose, "dataspace");
  if (blocks == 0)
    check(H5Sselect_none(space.get()), "select nothing");
  else
    check(H5Sselect_hyperslab(space.get(), H5S_SELECT_SET, &first, &stride, &blocks, &block),
          "select");
  return space;
}

Handle Pick::memory_space() const {
  const hsize_t size = count();
  return {H5Screate_simple(1, &size, nullptr), H5Sclose, "dataspace"};
}

void fill_values(std::byte* buffer, std::size_t step, Scalar scalar, std::uint64_t key,
                 const Pick& pick) {
  switch (scalar) {
    case Scalar::f32:
      return fill_as<float>(buffer, step, key, pick);
    case Scalar::i32:
      return fill_as<std::int32_t>(buffer, step, key, pick);
    case Scalar::i64:
      return fill_as<std::int64_t>(buffer, step, key, pick);
    case Scalar::u16:
      return fill_as<std::uint16_t>(buffer, step, key, pick);
  }
}

void verify_values(const std::byte* buffer, std::size_t step, Scalar scalar, std::uint64_t key,
                   const Pick& pick, std::string_view where) {
  switch (scalar) {
    case Scalar::f32:
      return verify_as<float>(buffer, step, key, pick, where);
    case Scalar::i32:
      return verify_as<std::int32_t>(buffer, step, key, pick, where);
    case Scalar::i64:
      return verify_as<std::int64_t>(buffer, step, key, pick, where);
    case Scalar::u16:
      return verify_as<std::uint16_t>(buffer, step, key, pick, where);
  }
}

}  // namespace headrace::bench::particles
