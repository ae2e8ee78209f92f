// Transfers of points, in the order of their places: HDF5 maps no others in order
// (H5Sselect_project_intersection).
//
// The program's thread only; throws Error.
#pragma once

#include "engine/buffer.hpp"
#include "layers/object/elements/selection.hpp"

namespace headrace::object {

class Points {
 public:
  // Of a selection of points, of that memory type.
  Points(const Selection& selection, hid_t mem_type);
  // The same elements, once each, and memory that has room() for nothing else.
  [[nodiscard]] const Selection& sorted() const { return sorted_; }
  [[nodiscard]] std::size_t room() const { return sorted_.count * element_; }

  // From the program's memory into that one, and back.
  void gather(const std::byte* program, std::byte* sorted) const;
  void scatter(const std::byte* sorted, std::byte* program) const;

 private:
  struct Place {
    std::uint64_t file;    // elements, in the dataset
    std::uint64_t memory;  // and in memory
    std::uint64_t sorted;
  };
  std::size_t element_;
  std::vector<Place> places_;  // in the program's order
  Selection sorted_;
};

}  // namespace headrace::object
