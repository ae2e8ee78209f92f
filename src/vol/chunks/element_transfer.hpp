// What a read or write of one dataset asks for, in terms of the dataset's elements and the
// program's memory. The program's thread only.
#pragma once

#include <optional>
#include <string_view>
#include <variant>
#include <vector>

#include "engine/box.hpp"
#include "engine/scattered.hpp"
#include "vol/chunks/chunked.hpp"
#include "vol/dataset/selection.hpp"
#include "vol/dataset/transfer.hpp"

namespace headrace::vol {

// What a read or write selects of a dataset in chunks and of the program's memory: a hyperslab, or
// fragments of chunks where the selection is none in the file or in memory.
struct ElementTransfer : HyperslabTransfer {
  std::vector<engine::Fragment> fragments;  // empty for a hyperslab
  bool distinct = true;                     // no two fragments have an element in common
  hid_t mem_type = kInvalidId;
  std::size_t mem_element = 0;  // bytes
  bool converts = false;        // the memory's type is another number type
  std::uint64_t elements = 0;

  [[nodiscard]] bool is_scattered() const { return !fragments.empty(); }
  // One block of the dataset that lies in memory as it does in the file.
  [[nodiscard]] bool is_plain_block() const { return !converts && !is_scattered() && is_block(); }
};

// The name under which calls are counted that fall back to HDF5.
using Reason = std::string_view;
inline constexpr Reason kLeftForSelection = "left_for_selection";

// Of a hyperslab in the file and in memory. A reason where HDF5 must do it: other selections, types
// that need more than a conversion of numbers, transfer properties that change the data, or
// arguments it will refuse. Else the dataset's extent is up to date afterwards.
std::variant<ElementTransfer, Reason> hyperslab_transfer_of(Elements& dataset,
                                                            const Transfer& call);

// Of any selection, at most so many fragments of chunks.
inline constexpr std::size_t kMostFragments = 1 << 20;
std::variant<ElementTransfer, Reason> scattered_transfer_of(Chunked& dataset, const Transfer& call);

// As a hyperslab, or else in fragments.
std::variant<ElementTransfer, Reason> element_transfer_of(Chunked& dataset, const Transfer& call);

// The elements that `file` selects, cut at the borders of the grid's chunks. None where there are
// too many fragments, or memory has another number of elements.
std::optional<ElementTransfer> cut(const Elements& dataset, const Transfer& call,
                                   const engine::Grid& grid, const Runs& file);

}  // namespace headrace::vol
