// Many small objects: groups of datasets that carry attributes, and what all of them hold.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "run.hpp"

namespace headrace::bench::metadata {

struct Shape {
  std::uint64_t groups = 100;
  std::uint64_t datasets = 200;  // per group
  std::uint64_t attributes = 4;  // per dataset
};

// Who writes a dataset's data in a parallel run.
enum class Writers {
  one,   // rank 0
  each,  // each rank an equal part
  same,  // all ranks all of it: what HDF5 asks for compact datasets
};

inline constexpr hsize_t kElements = 8;  // doubles, per writer

// Sorted by name as by number.
std::string group_name(std::uint64_t group);
std::string dataset_name(std::uint64_t dataset);
std::string attribute_name(std::uint64_t attribute);
// "/group_0001/dataset_0002".
std::string path_of(std::uint64_t group, std::uint64_t dataset);

// Even attributes are one 64-bit integer, odd ones a text.
constexpr std::uint64_t attribute_bytes(std::uint64_t attribute) {
  return attribute % 2 == 0 ? 8 : 16;
}

// The attributes of a dataset, with their values; a program keeps such a list at hand.
class Attributes {
 public:
  explicit Attributes(std::uint64_t count);
  // Chooses the dataset: makes its values.
  void fill(const std::string& path);
  // Creates them on an object and leaves them open. Collective, as is the writing.
  void create(hid_t object);
  void write() const;
  void close() { open_.clear(); }
  // Opens each by its name, reads it and closes it.
  void read(hid_t object);
  // Throws Error unless what read() has found is what `path` must have.
  void verify(const std::string& path) const;
  [[nodiscard]] std::uint64_t bytes() const;

 private:
  [[nodiscard]] hid_t type(std::size_t i, bool in_file) const;

  std::vector<std::string> names_;
  std::vector<std::string> values_;  // bytes, as in memory
  std::vector<Handle> open_;
  Handle text_;
  Handle scalar_;
};

// Walks the whole tree as `ls -R` does. Throws Error unless it finds just the objects of `shape`.
void list_tree(Run& run, hid_t file, const Shape& shape);

}  // namespace headrace::bench::metadata
