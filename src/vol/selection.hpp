// Selections as rows of elements.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "engine/runs.hpp"
#include "vol/elements.hpp"

namespace headrace::vol {

using Runs = std::vector<engine::Run>;

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
// The same of a union of hyperslabs whose blocks lie in one piece each, and in order; else none,
// which costs little to find out.
std::optional<Runs> file_blocks_of(const Elements& dataset, hid_t file_space);
// What its memory space selects of the buffer, where `file` is what the other one selects.
std::optional<Runs> memory_rows_of(hid_t mem_space, const Runs& file, std::size_t most);

// Appends the rows of a box that lies within the dataset and holds elements. `strides`: elements
// between neighbours in each dimension. False when there are more than `most` rows then.
bool append_rows(std::span<const hsize_t> start, std::span<const hsize_t> count,
                 const engine::Index& strides, std::size_t most, Runs& rows);

}  // namespace headrace::vol
