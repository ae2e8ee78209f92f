// What a read or write of one dataset asks for, in terms of the dataset's elements and the
// program's memory.
#pragma once

#include <optional>
#include <string_view>
#include <variant>

#include "connectors/async/dataset.hpp"
#include "vol/chunks/parts.hpp"
#include "vol/dataset/transfer.hpp"

namespace headrace::async {

using Transfer = vol::ElementTransfer;

// The name under which calls are counted that fall back to HDF5.
using Reason = std::string_view;
inline constexpr Reason kLeftForSelection = "left_for_selection";
inline constexpr Reason kLeftForError = "left_for_error";

// A reason where HDF5 must do it: selections that are no hyperslab, types that need more than a
// conversion of numbers, transfer properties that change the data, or arguments it will refuse.
// Else the dataset's extent is up to date afterwards.
std::variant<Transfer, Reason> hyperslab_transfer_of(Elements& dataset, const vol::Transfer& call);

// Of a dataset in chunks, for any selection of at most so many fragments.
inline constexpr std::size_t kMostFragments = 1 << 20;
std::variant<Transfer, Reason> scattered_transfer_of(Elements& dataset, const vol::Transfer& call);

// The elements that `file` selects, cut at the borders of the grid's chunks.
std::optional<Transfer> cut(const Elements& dataset, const vol::Transfer& call,
                            const engine::Grid& grid, const vol::Runs& file);

}  // namespace headrace::async
