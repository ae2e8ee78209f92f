// Writes that go to the log.
#pragma once

#include <cstddef>
#include <span>
#include <variant>

#include "engine/buffer.hpp"
#include "engine/log/writer.hpp"
#include "layers/log/connector/file/dataset.hpp"
#include "layers/log/connector/state.hpp"
#include "vol/dataset/selection.hpp"

namespace headrace::log_layout {

using vol::Runs;

// Bytes of memory that the elements of a write may take to be converted in one piece.
inline constexpr std::uint64_t kMostConverted = std::uint64_t{64} << 20U;

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

// A write without rows, whose extent must be known.
Write write_of(Dataset& dataset, vol::Object& handle, hid_t mem_type, const void* buffer);
// Whether the elements can be converted without those that the dataset has: numbers need nothing
// but themselves; members that memory does not have stay what they are.
bool converts_alone(const Dataset& dataset, hid_t mem_type);
// Fill in the rows, no more than `most`. False when there are more, or the selection is none of the
// dataset or has another number of elements.
bool select_in_file(Write& write, hid_t file_space, std::size_t most);
bool select_in_memory(Write& write, hid_t mem_space, std::size_t most);

// A write of a dataset whose extent and types are known, without rows; why where it is HDF5's.
std::variant<Write, Left> begin_write(vol::Object& object, hid_t mem_type, const void* buffer);
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
