// Writes that go to the log.
#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "connectors/log/file/dataset.hpp"
#include "connectors/log/state.hpp"
#include "engine/buffer.hpp"
#include "engine/log/writer.hpp"
#include "vol/dataset/selection.hpp"

namespace headrace::log_layout {

using vol::Runs;

// The arguments of H5Dwrite_multi; returns whether all of its data is in the log now. Else nothing
// is, and HDF5 must do it, or tell what is wrong.
bool log_writes(std::size_t count, void* dset[], hid_t mem_type[], hid_t mem_space[],
                hid_t file_space[], hid_t dxpl, const void* buf[]);

// One dataset of a call.
struct Write {
  Dataset* dataset = nullptr;
  vol::Object* handle = nullptr;
  hid_t mem_type = kInvalidId;
  std::size_t mem_element = 0;
  bool converts = false;
  Runs file;    // elements of the dataset
  Runs memory;  // elements of the buffer, in the same order
  const std::byte* buffer = nullptr;
  std::uint64_t elements = 0;
};

constexpr std::size_t kMostRows = 1 << 22;

// A write of a dataset whose extent and types are known, without rows; none where it is HDF5's, and
// why.
std::optional<Write> begin_write(vol::Object& object, hid_t mem_type, const void* buffer,
                                 Left& why);
// Whether native HDF5 would take longer: many rows, or few that a part of the log lies under.
bool gains(const Write& write);
// Of large ones all the memory would be needed once more.
bool too_large_to_convert(const Write& write);
// Logs writes to one file. False when the log cannot be written: then HDF5 must write them, and all
// that follows.
bool log_all(std::span<const Write> writes, hid_t dxpl);

// The program's elements one after the other, in the type of the dataset, which those in
// `background` are in already; null where the conversion needs none. Throws Error.
engine::Buffer converted(const Write& write, hid_t dxpl, std::byte* background);
// Appends the data of a write to a log, and the write to its index; `place` is the dataset's there.
// Throws Error.
void append(engine::log::Writer& log, std::uint32_t place, const Write& write, hid_t dxpl);
// The same when its elements are in the dataset's type already, one after the other.
void append_elements(engine::log::Writer& log, std::uint32_t place, const Write& write,
                     std::span<const std::byte> elements);
// A call that was left to HDF5, and a log that was written to its datasets.
void count_left(Left why);
void count_replay();

// What was logged and what was left to HDF5, for `headrace run --stats`.
void report_writes();

}  // namespace headrace::log_layout
