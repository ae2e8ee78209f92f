// The variables of a particle: as arrays and as structures, in memory and in a file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "hdf5.hpp"

namespace headrace::bench::particles {

enum class Scalar { f32, i32, i64, u16 };

std::size_t size_of(Scalar scalar);
// Little endian in the file, the machine's own in memory. HDF5 owns them.
hid_t file_type(Scalar scalar);
hid_t memory_type(Scalar scalar);

struct Variable {
  std::string_view name;
  Scalar scalar;
};

// A particle as a structure. In memory its members are aligned as a C compiler aligns them, in the
// file they are packed.
class Record {
 public:
  explicit Record(std::vector<Variable> variables);

  [[nodiscard]] const std::vector<Variable>& variables() const { return variables_; }
  // Bytes of a particle.
  [[nodiscard]] std::size_t packed_size() const { return packed_size_; }
  [[nodiscard]] std::size_t memory_size() const { return memory_size_; }
  // Where a member begins.
  [[nodiscard]] std::size_t packed_offset(std::size_t i) const { return packed_[i]; }
  [[nodiscard]] std::size_t memory_offset(std::size_t i) const { return aligned_[i]; }

  [[nodiscard]] Handle file_compound() const;
  [[nodiscard]] Handle memory_compound() const;
  // A compound of this member alone.
  [[nodiscard]] Handle file_member(std::size_t i) const;
  [[nodiscard]] Handle packed_memory_member(std::size_t i) const;
  // The same at its place in the structure in memory.
  [[nodiscard]] Handle memory_member(std::size_t i) const;

 private:
  std::vector<Variable> variables_;
  std::vector<std::size_t> packed_;
  std::vector<std::size_t> aligned_;
  std::size_t packed_size_ = 0;
  std::size_t memory_size_ = 0;
};

// What a rank moves of a 1-D dataset: blocks of `block` elements whose beginnings are `stride`
// apart.
struct Pick {
  hsize_t first = 0;
  hsize_t blocks = 0;
  hsize_t block = 0;
  hsize_t stride = 0;

  static Pick slab(hsize_t first, hsize_t count) {
    return {first, count == 0 ? 0U : 1U, count, count};
  }
  // All whole blocks among `count` elements.
  static Pick strided(hsize_t first, hsize_t count, hsize_t block, hsize_t stride) {
    return {first, count < block ? 0 : (count - block) / stride + 1, block, stride};
  }
  [[nodiscard]] hsize_t count() const { return blocks * block; }
  // Of a dataset with `total` elements, with this selected.
  [[nodiscard]] Handle file_space(hsize_t total) const;
  [[nodiscard]] Handle memory_space() const;
};

// Element i of `pick` goes to `buffer + i * step`; what it is follows from its place in the
// dataset.
void fill_values(std::byte* buffer, std::size_t step, Scalar scalar, std::uint64_t key,
                 const Pick& pick);
// Throws Error for the first that differs.
void verify_values(const std::byte* buffer, std::size_t step, Scalar scalar, std::uint64_t key,
                   const Pick& pick, std::string_view where);

}  // namespace headrace::bench::particles
