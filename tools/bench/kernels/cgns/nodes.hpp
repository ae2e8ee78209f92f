// The nodes of a CGNS file as the CGNS library keeps them in HDF5: a group with the attributes
// name, label, type and flags, and in it the dataset " data" when it has any.
// https://cgns.org/standard/hdf5.html
#pragma once

#include <span>
#include <string>
#include <vector>

#include "hdf5.hpp"

namespace headrace::bench::cgns {

// Dimensions are given as HDF5 has them, the reverse of CGNS's.
class Node {
 public:
  Node(hid_t parent, const std::string& name, const std::string& label, const std::string& type);

  [[nodiscard]] hid_t get() const { return group_.get(); }
  // Small data, written by all ranks alike, as the CGNS library does it.
  void write(hid_t type, const std::vector<hsize_t>& dims, const void* values) const;
  void write_text(std::string_view text) const;
  // A dataset for large data: contiguous, allocated at once, never filled.
  [[nodiscard]] Handle create_array(hid_t type, hsize_t length) const;

 private:
  Handle group_;
};

// The creation property list of a file and of all its groups: links in the order of creation.
Handle ordered(hid_t list_class);
// What every CGNS file begins with.
void write_root(hid_t file);

}  // namespace headrace::bench::cgns
