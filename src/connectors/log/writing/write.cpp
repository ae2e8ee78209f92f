#include "connectors/log/writing/write.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/events.hpp"
#include "base/log.hpp"
#include "base/summary.hpp"
#include "connectors/log/serial/all_files.hpp"
#include "connectors/log/serial/serial_file.hpp"
#include "connectors/log/state.hpp"
#include "hdf5/quiet_errors.hpp"
#include "vol/dataset/selection.hpp"

namespace headrace::log_layout {
namespace {

using engine::Run;

// In the order of Left.
constexpr std::array<std::string_view, 12> kLeftNames{
    "left_for_mpi",           "left_for_swmr",          "left_for_ended",     "left_for_dataset",
    "left_for_address",       "left_for_rows",          "left_for_selection", "left_for_conversion",
    "left_for_several_files", "left_for_transfer_list", "left_for_room",      "left_for_error"};

struct Statistics {
  std::uint64_t writes = 0;
  std::uint64_t bytes = 0;
  std::uint64_t rows = 0;
  std::uint64_t replays = 0;
  std::array<std::uint64_t, kLeftNames.size()> left{};  // calls, by the reason
};

Statistics& statistics() {
  static auto& statistics = *new Statistics;  // leaked: HDF5 ends after the process's statics
  return statistics;
}

// Of files that no other process has.
SerialFile& file_of(const Write& write) { return static_cast<SerialFile&>(*write.dataset->file); }

// Whether native HDF5 would take longer: many rows, or few that a part of the log lies under.
bool gains(const Write& write) {
  constexpr std::uint64_t kLongRow = 64 << 10;
  return (write.dataset->pending && !file_of(write).all_replayed()) ||
         (write.file.size() > 1 &&
          write.elements * write.dataset->element / write.file.size() < kLongRow);
}

// Of large ones all the memory would be needed once more.
bool too_large_to_convert(const Write& write) {
  constexpr std::uint64_t kMost = 64 << 20;
  return write.converts &&
         write.elements * std::max(write.mem_element, write.dataset->element) > kMost;
}

std::optional<Write> examine(vol::Object& object, hid_t mem_type, hid_t mem_space, hid_t file_space,
                             const void* buffer, Left& why) {
  auto write = begin_write(object, mem_type, buffer, why);
  if (!write) return std::nullopt;
  why = Left::selection;
  if (!select_in_file(*write, file_space, kMostRows)) return std::nullopt;
  if (!gains(*write)) {
    why = Left::rows;
    return std::nullopt;
  }
  if (!select_in_memory(*write, mem_space, kMostRows)) return std::nullopt;
  why = Left::conversion;
  return too_large_to_convert(*write) ? std::nullopt : std::move(write);
}

void add_to_index(engine::log::Writer& log, std::uint32_t place, const Write& write) {
  Dataset& dataset = *write.dataset;
  const engine::Index strides = engine::strides_of(dataset.rank, dataset.dims, 1);
  const std::uint64_t first = std::ranges::min(write.file, {}, &Run::first).first;
  engine::Pattern pattern(write.file, std::span(strides).first(dataset.rank - 1));
  log.add(place, pattern, first);
  if (dataset.logged) dataset.logged->note(std::move(pattern), first);
  ++statistics().writes;
  statistics().bytes += write.elements * dataset.element;
  statistics().rows += write.file.size();
}

void add(const Write& write, hid_t dxpl) {
  Dataset& dataset = *write.dataset;
  SerialFile& file = file_of(write);
  file.note_pending(dataset, *write.handle);
  append(file.log(), dataset.place, write, dxpl);
}

// Where its elements belong: whole chunks, or for each row parts of two blocks of the file system.
std::uint64_t most_taken(const Write& write) {
  constexpr std::uint64_t kBlock = 4096;
  const Dataset& dataset = *write.dataset;
  const std::uint64_t each = dataset.chunked()
                                 ? engine::volume(dataset.rank, dataset.chunk) * dataset.element
                                 : 2 * kBlock;
  return write.elements * dataset.element + write.file.size() * each;
}

bool has_room(SerialFile& file, std::span<const Write> writes) {
  std::uint64_t bytes = 0;
  std::uint64_t expected = 0;
  for (const Write& write : writes) {
    bytes += write.elements * write.dataset->element;
    expected += most_taken(write);
    write.dataset->expected += most_taken(write);
  }
  if (file.has_room(bytes, expected)) return true;
  for (const Write& write : writes) write.dataset->look_up(*write.handle);
  return file.has_room(bytes, expected);
}

// Drains early where there is no room for the log and the data, and where that does not help, as
// for a write that is too large, leaves it to HDF5.
bool find_room(SerialFile& file, std::span<const Write> writes) {
  if (has_room(file, writes)) return true;
  file.drain();
  for (const Write& write : writes) write.dataset->expected = 0;
  if (file.logs() && has_room(file, writes)) return true;
  for (const Write& write : writes) write.dataset->expected = 0;
  count_left(Left::room);
  return false;
}

// Logs writes to one file. False when the log cannot be written: then HDF5 must write them, and all
// that follows.
bool log_all(std::span<const Write> writes, hid_t dxpl) {
  SerialFile& file = file_of(writes.front());
  for (const Write& write : writes) drain_others(file, write.dataset->identity.file);
  if (!find_room(file, writes)) return false;
  try {
    for (const Write& write : writes) add(write, dxpl);
    file.limit_memory();
    return true;
  } catch (const std::exception& error) {
    // What has reached the log of this call is written once more by HDF5, with the same bytes.
    log(Level::warning, "file " + file.path() + " is written by HDF5 from now on: " + error.what());
    file.drain();
    file.stop();
    count_left(Left::error);
    return false;
  }
}

}  // namespace

engine::Buffer converted(const Write& write, hid_t dxpl, std::byte* background) {
  engine::Buffer buffer(write.elements * std::max(write.mem_element, write.dataset->element));
  std::size_t done = 0;
  for (const Run& run : write.memory) {
    std::memcpy(buffer.data() + done, write.buffer + run.first * write.mem_element,
                run.count * write.mem_element);
    done += run.count * write.mem_element;
  }
  if (h5.Tconvert(write.mem_type, write.dataset->type.get(), write.elements, buffer.data(),
                  background, dxpl) < 0)
    throw Error("HDF5 cannot convert the elements of a write");
  return buffer;
}

void append(engine::log::Writer& log, std::uint32_t place, const Write& write, hid_t dxpl) {
  const std::size_t element = write.dataset->element;
  if (write.converts) {
    const engine::Buffer buffer = converted(write, dxpl, nullptr);
    return append_elements(log, place, write, buffer.bytes().first(write.elements * element));
  }
  for (const Run& run : write.memory)
    log.append({write.buffer + run.first * element, run.count * element});
  add_to_index(log, place, write);
}

void append_elements(engine::log::Writer& log, std::uint32_t place, const Write& write,
                     std::span<const std::byte> elements) {
  log.append(elements);
  add_to_index(log, place, write);
}

void count_replay() { ++statistics().replays; }

void count_left(Left why) { ++statistics().left.at(static_cast<std::size_t>(why)); }

Write write_of(Dataset& dataset, vol::Object& handle, hid_t mem_type, const void* buffer) {
  Write write;
  write.dataset = &dataset;
  write.handle = &handle;
  write.mem_type = mem_type;
  write.mem_element = h5.Tget_size(mem_type);
  write.converts = h5.Tequal(mem_type, dataset.type.get()) <= 0;
  write.buffer = static_cast<const std::byte*>(buffer);
  return write;
}

bool converts_alone(const Dataset& dataset, hid_t mem_type) {
  const H5T_class_t kind = h5.Tget_class(mem_type);
  return dataset.numeric && (kind == H5T_INTEGER || kind == H5T_FLOAT);
}

bool select_in_file(Write& write, hid_t file_space, std::size_t most) {
  auto rows = vol::file_rows_of(*write.dataset, file_space, most);
  if (!rows) return false;
  write.file = std::move(*rows);
  write.elements = elements_of(write.file);
  return true;
}

bool select_in_memory(Write& write, hid_t mem_space, std::size_t most) {
  auto rows = vol::memory_rows_of(mem_space, write.file, most);
  if (!rows || elements_of(*rows) != write.elements) return false;
  write.memory = std::move(*rows);
  return true;
}

std::optional<Write> begin_write(vol::Object& object, hid_t mem_type, const void* buffer,
                                 Left& why) {
  Dataset* const dataset = dataset_of(object);
  if (dataset == nullptr || !dataset->file->logs() || buffer == nullptr) {
    const FileState* const state = object.connector->state.find<FileState>();
    const bool logs = state != nullptr && state->file != nullptr && state->file->logs();
    why = logs || state == nullptr ? Left::dataset : state->left_for;
    if (logs && handle_of(object).addresses_told(object)) why = Left::address;
    return std::nullopt;
  }
  why = Left::conversion;
  Write write = write_of(*dataset, object, mem_type, buffer);
  if (write.mem_element == 0 || (write.converts && !converts_alone(*dataset, mem_type)) ||
      !vol::update_dims(*dataset, object) || !vol::countable(*dataset))
    return std::nullopt;
  return write;
}

bool SerialFile::log_rows(Write& write) {
  return gains(write) && !too_large_to_convert(write) &&
         log_all(std::span(&write, 1), h5.transfer_list.get());
}

bool log_writes(std::size_t count, void* dset[], hid_t mem_type[], hid_t mem_space[],
                hid_t file_space[], hid_t dxpl, const void* buf[]) {
  const Aside aside;
  std::vector<Write> writes;
  std::optional<Left> left;
  for (std::size_t i = 0; i < count; ++i) {
    Left why{};
    auto write =
        examine(vol::Object::from(dset[i]), mem_type[i], mem_space[i], file_space[i], buf[i], why);
    if (!write) {
      left = why;
      break;
    }
    writes.push_back(std::move(*write));
  }
  const auto same_file = [&](const Write& one) {
    return one.dataset->file == writes.front().dataset->file;
  };
  if (count == 0) return false;
  if (!left && !std::ranges::all_of(writes, same_file)) left = Left::several_files;
  if (!left && !vol::leaves_data_alone(dxpl)) left = Left::transfer_list;
  if (left) {
    count_left(*left);
    return false;
  }
  return log_all(writes, dxpl);
}

void report_writes() {
  const Statistics done = std::exchange(statistics(), {});
  const std::uint64_t left = std::accumulate(done.left.begin(), done.left.end(), std::uint64_t{0});
  std::vector<std::pair<std::string_view, std::uint64_t>> values{
      {"writes_logged", done.writes}, {"logged_bytes", done.bytes}, {"rows_logged", done.rows},
      {"replays", done.replays},      {"calls_left_to_hdf5", left},
  };
  Share& share = share_of("log");
  share.taken = done.writes;
  for (std::size_t i = 0; i < kLeftNames.size(); ++i) {
    if (done.left.at(i) == 0) continue;
    values.emplace_back(kLeftNames.at(i), done.left.at(i));
    share.left.emplace(kLeftNames.at(i), done.left.at(i));
  }
  report_statistics(Seat::vol, "headrace_log", "", values);
}

}  // namespace headrace::log_layout
