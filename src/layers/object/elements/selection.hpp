// What a read or write selects, in a dataset of a container and in memory, side by side.
//
// The program's thread only; throws Error.
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "objects/format/header.hpp"
#include "vol/chunks/element_transfer.hpp"

namespace headrace::object {

// Both are dataspaces: H5S_ALL and H5S_BLOCK are what they stand for.
struct Selection {
  Id<Kind::dataspace> file;
  Id<Kind::dataspace> memory;
  std::uint64_t count = 0;  // elements, in both of them
};

// Of what lies within the dataset's extent; else Error, and where the numbers of elements differ.
Selection selection_of(const objects::Header& header, hid_t file_space, hid_t mem_space);

// Of a selection that is a hyperslab in both, in the same order. Of a scalar dataset one element of
// one dimension.
std::optional<vol::HyperslabTransfer> hyperslab_of(const Selection& selection,
                                                   std::size_t mem_element);

// The elements that a dataspace selects, in the order in which HDF5 transfers them.
class SelectedRuns {
 public:
  SelectedRuns(hid_t space, std::uint64_t elements);
  SelectedRuns(const SelectedRuns&) = delete;
  SelectedRuns& operator=(const SelectedRuns&) = delete;
  ~SelectedRuns();
  // The next ones; there are some.
  engine::Run next();
  // Of those that next() has told so many are done; it tells of the others again.
  void take(std::uint64_t elements);
  [[nodiscard]] std::uint64_t left() const { return left_; }

 private:
  static constexpr std::size_t kPart = 1024;
  hid_t iterator_;
  std::uint64_t left_;
  std::uint64_t listed_;  // elements that the iterator has not listed yet
  std::array<hsize_t, kPart> first_;
  std::array<std::size_t, kPart> count_;
  std::size_t at_ = 0;
  std::size_t size_ = 0;
};

// A selection of any form in parts that take a bounded number of runs.
class SelectionParts {
 public:
  explicit SelectionParts(const Selection& selection)
      : file_(selection.file.get(), selection.count),
        memory_(selection.memory.get(), selection.count) {}
  // As many elements in both. False at the end.
  bool next(vol::Runs& file, vol::Runs& memory);

 private:
  SelectedRuns file_;
  SelectedRuns memory_;
};

}  // namespace headrace::object
