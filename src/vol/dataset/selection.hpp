// What a transfer selects, of a dataset and of the program's memory: as a hyperslab, as runs of
// elements, or as their bounds. The one place that decodes HDF5's selections.
//
// The functions call HDF5, which may leave errors on its stack: callers keep that (see
// PrivateErrors).
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "engine/runs.hpp"
#include "vol/dataset/elements.hpp"

namespace headrace::vol {

using Runs = std::vector<engine::Run>;

// H5S_ALL, H5S_BLOCK and H5S_PLIST stand for a selection without being a dataspace.
inline constexpr hid_t kAll = 0;
inline constexpr hid_t kBlock = 1;
inline constexpr hid_t kPlist = 2;
constexpr bool is_dataspace(hid_t space) { return space > kPlist; }

// The type of a transfer's elements in memory.
struct MemoryType {
  std::size_t size;  // bytes
  bool converts;     // it is another one than the dataset's
};
// None where elements need more than a conversion of numbers, which needs nothing but them: what
// memory or file have already may have to stay in parts of all others.
std::optional<MemoryType> memory_type_of(const Elements& dataset, hid_t mem_type);

// A dataspace whose selection is one solid block, or a regular hyperslab of single elements. There
// is at least one element.
struct Hyperslab {
  unsigned rank = 0;
  engine::Index dims{};  // of the dataspace
  engine::Box box;       // the first element, and how many there are
  engine::Index step = engine::kEach;
};
// False where the selection is none; `slab`, which is as it is made, has anything then.
bool read_hyperslab(hid_t space, Hyperslab& slab);

// A transfer of such elements of a dataset.
struct HyperslabTransfer {
  engine::Box box;  // in the dataset: the first element, and how many there are
  engine::Index step = engine::kEach;
  engine::Index mem_strides{};  // bytes between neighbours in memory, for each dimension of the box
  std::size_t mem_offset = 0;   // bytes, of the box's first element

  // Whether the box has all elements that lie in it.
  [[nodiscard]] bool is_block() const { return step == engine::kEach; }
};
// Of a dataset whose extent is up to date. `mem_element`: bytes. None when the selection in file or
// memory is no Hyperslab of elements that HDF5 would transfer.
class Transfer;
std::optional<HyperslabTransfer> hyperslab_transfer_of(const Elements& dataset,
                                                       const Transfer& transfer,
                                                       std::size_t mem_element);

// The elements from the first to the last that a regular hyperslab or a whole dataspace selects,
// counted row by row. None for other selections, and where nothing is selected.
std::optional<engine::Run> bounds_of(hid_t space);

// In how many rows lies what a file space selects, and how many elements from the first to the
// last. A few questions, none of which fails, tell it of whole dataspaces and regular hyperslabs;
// none of others.
struct Spread {
  std::uint64_t rows;
  std::uint64_t extent;
};
std::optional<Spread> spread_of(hid_t file_space);

// Whether 64 bits number all elements of a dataset whose extent is known, as HDF5's lists of rows
// and the index of a log do.
bool countable(const Elements& dataset);

// Whether a file space selects points, or a union of hyperslabs that is no regular one.
bool is_scattered(hid_t file_space);

// Whether one of points selects them in another order than that of the dataset, by the first ones.
bool goes_back(hid_t file_space);

// What the file space of a transfer selects of a dataset whose extent is known, in the order in
// which HDF5 transfers it. None when nothing is selected, HDF5 does not tell, the space is not that
// of the dataset, its elements are not countable, or there are more than `most` rows.
std::optional<Runs> file_rows_of(const Elements& dataset, hid_t file_space, std::size_t most);
// What a union of hyperslabs selects whose blocks lie in one piece each, in order, and have at
// least `least` elements on average; else none, which costs little to find out.
std::optional<Runs> file_blocks_of(const Elements& dataset, hid_t file_space, std::uint64_t least);
// What its memory space selects of the buffer, where `file` is what the other one selects.
std::optional<Runs> memory_rows_of(hid_t mem_space, const Runs& file, std::size_t most);

// Appends the rows of a box that lies within the dataset and holds elements. `strides`: elements
// between neighbours in each dimension. False when there are more than `most` rows then.
bool append_rows(std::span<const hsize_t> start, std::span<const hsize_t> count,
                 const engine::Index& strides, std::size_t most, Runs& rows);

}  // namespace headrace::vol
