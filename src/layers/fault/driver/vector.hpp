// The arrays of HDF5's vector calls: H5FDwrite_vector() and its kin.
#pragma once

#include <vector>

#include "hdf5/api.hpp"

namespace headrace::fault {

// A vector call's pieces with one size and type each: HDF5 ends these arrays early, by a size of 0
// or H5FD_MEM_NOLIST, when the rest is as the one before.
class Pieces {
 public:
  Pieces(std::uint32_t count, const H5FD_mem_t types[], const std::size_t sizes[]);
  [[nodiscard]] std::uint64_t bytes() const;
  // Leaves the leading `bytes`.
  void shorten(std::uint64_t bytes);

  [[nodiscard]] std::uint32_t count() const { return static_cast<std::uint32_t>(sizes_.size()); }
  H5FD_mem_t* types() { return types_.data(); }
  std::size_t* sizes() { return sizes_.data(); }

 private:
  std::vector<H5FD_mem_t> types_;
  std::vector<std::size_t> sizes_;
};

// The bytes that each selection of a selection call transfers.
std::vector<std::uint64_t> selection_bytes(std::size_t count, const hid_t file_spaces[],
                                           const std::size_t element_sizes[]);

}  // namespace headrace::fault
