// Region references of HDF5 1.8 in elements of a container.
//
// In memory an element is a place in a heap of the native file of the faces, where a token and a
// selection are. In a container it is a sequence of bytes, of variable length: these two. HDF5
// converts one into the other, wherever it is in an element, by a function that is registered here.
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "hdf5/id.hpp"
#include "objects/heaps.hpp"
#include "vol/terminal/face_memory.hpp"

namespace headrace::object {

// Whether elements of the type have such references.
bool has_region_references(hid_t type);

// Of one file. The program's thread only; all functions throw Error.
class Regions {
 public:
  // All outlive the object. `in_file`: a type as the file has it, but for region references.
  Regions(objects::Heaps& heaps, vol::FaceMemory& memory,
          std::function<Id<Kind::datatype>(hid_t)> in_file);
  Regions(const Regions&) = delete;
  Regions& operator=(const Regions&) = delete;
  ~Regions();

  // The type with sequences in the place of region references.
  [[nodiscard]] Id<Kind::datatype> with_sequences(hid_t type) const;

 private:
  friend struct RegionConversion;
  void to_file(const std::byte* reference, std::byte* element);
  void from_file(const std::byte* element, std::byte* reference);
  // As HDF5 1.12 has them in memory.
  void from_file_as(hid_t type, const std::byte* element, std::span<std::byte> reference);

  objects::Heaps& heaps_;
  vol::FaceMemory& memory_;
  std::function<Id<Kind::datatype>(hid_t)> in_file_;
  std::uint64_t number_;  // by which types name it
};

}  // namespace headrace::object
