// What a read or write of one dataset asks for, in terms of the dataset's elements and the
// program's memory.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "connectors/async/dataset.hpp"
#include "engine/scattered.hpp"
#include "vol/dataset/transfer.hpp"

namespace headrace::async {

// A hyperslab, or fragments of chunks where the selection is none in the file or in memory.
struct Transfer : vol::HyperslabTransfer {
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

// None when HDF5 must do it: selections that are no hyperslab, types that need more than a
// conversion of numbers, transfer properties that change the data, or arguments it will refuse;
// `why` tells then. The dataset's extent is up to date afterwards.
std::optional<Transfer> hyperslab_transfer_of(Elements& dataset, const vol::Transfer& call,
                                              std::string_view& why);

// Of a dataset in chunks, for any selection of at most so many fragments.
inline constexpr std::size_t kMostFragments = 1 << 20;
std::optional<Transfer> scattered_transfer_of(Elements& dataset, const vol::Transfer& call,
                                              std::string_view& why);

// The elements that `file` selects, cut at the borders of the grid's chunks.
std::optional<Transfer> cut(const Elements& dataset, const vol::Transfer& call,
                            const engine::Grid& grid, const vol::Runs& file);

}  // namespace headrace::async
