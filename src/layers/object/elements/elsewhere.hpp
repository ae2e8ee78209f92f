// Elements of a dataset that lie in other datasets.
#pragma once

#include <cstdint>
#include <vector>

#include "hdf5/id.hpp"

namespace headrace::object {

// The program's thread only; throws Error.
class Elsewhere {
 public:
  Elsewhere() = default;
  Elsewhere(const Elsewhere&) = delete;
  Elsewhere& operator=(const Elsewhere&) = delete;
  virtual ~Elsewhere() = default;

  // As those of Elements.
  virtual void read(hid_t mem_type, hid_t mem_space, hid_t file_space, hid_t dxpl,
                    void* buffer) = 0;
  virtual void write(hid_t mem_type, hid_t mem_space, hid_t file_space, hid_t dxpl,
                     const void* buffer) = 0;
  // Dims that the dataset may have, as many as it has.
  virtual void set_extent(const std::vector<std::uint64_t>& dims) = 0;
};

}  // namespace headrace::object
