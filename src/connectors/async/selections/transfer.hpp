// What a read or write of one dataset asks for, in terms of the dataset's elements and the
// program's memory.
#pragma once

#include <optional>
#include <string_view>

#include "connectors/async/dataset.hpp"
#include "vol/chunks/parts.hpp"
#include "vol/dataset/transfer.hpp"

namespace headrace::async {

using Transfer = vol::ElementTransfer;

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
