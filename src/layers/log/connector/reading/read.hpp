// Reads of what is not all in HDF5's datasets: the rest is in logs, of this program, of ranks or of
// an earlier program.
#pragma once

#include <cstddef>
#include <span>

#include "engine/buffer.hpp"
#include "layers/log/connector/file/dataset.hpp"
#include "vol/dataset/transfer.hpp"

namespace headrace::log_layout {

using vol::Runs;

// One dataset of a call.
struct Read : vol::Transfer {
  Read(const vol::Transfer& transfer, void* to) : Transfer(transfer), buffer(to) {}
  void* const buffer;
};

// What HDF5 has, and the layers on top of it. Throws Error for what that cannot be done for, which
// says what must happen `before`.
herr_t read_through(const Read& read, const Dataset& dataset,
                    const engine::log::LoggedWrites& writes, const char* before);
// Those rows of a dataset, which are the selection of the file, to rows of the program's memory.
// Negative when HDF5 fails.
herr_t read_rows(const Read& read, const Dataset& dataset, const engine::log::LoggedWrites& writes,
                 const Runs& file, const Runs& memory);
// Elements of the dataset as HDF5 and the layers have them, one after the other, in its own type:
// those of the rows, which are the selection of the file. False when HDF5 fails.
bool fetch(const vol::Transfer& read, const Dataset& dataset,
           const engine::log::LoggedWrites* writes, const Runs& file, engine::Buffer& buffer);
[[noreturn]] void refuse(const vol::Transfer& read, const char* before);

// Whether all reads of one of the datasets look through logs, see LoggedFile.
bool reads_logs(std::span<void* const> datasets);

// What HDF5 has, and what logs hold on top of it. Throws Error for what can only be read when logs
// have been drained.
herr_t read_on_top(const vol::Reads& reads);

}  // namespace headrace::log_layout
