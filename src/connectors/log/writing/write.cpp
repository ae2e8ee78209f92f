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
#include "connectors/log/file/all_files.hpp"
#include "connectors/log/file/file.hpp"
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

bool read_types(Write& write) {
  const Dataset& dataset = *write.dataset;
  write.mem_element = dataset.element;
  if (h5.Tequal(write.mem_type, dataset.type.get()) > 0) return true;
  const H5T_class_t kind = h5.Tget_class(write.mem_type);
  write.mem_element = h5.Tget_size(write.mem_type);
  write.converts = true;
  return dataset.numeric && (kind == H5T_INTEGER || kind == H5T_FLOAT) && write.mem_element > 0;
}

std::optional<Write> examine(vol::Object& object, hid_t mem_type, hid_t mem_space, hid_t file_space,
                             const void* buffer, Left& why) {
  auto write = begin_write(object, mem_type, buffer, why);
  if (!write) return std::nullopt;
  why = Left::selection;
  auto file = vol::file_rows_of(*write->dataset, file_space, kMostRows);
  if (!file) return std::nullopt;
  write->file = std::move(*file);
  write->elements = elements_of(write->file);
  if (!gains(*write)) {
    why = Left::rows;
    return std::nullopt;
  }
  auto memory = vol::memory_rows_of(mem_space, write->file, kMostRows);
  if (!memory || elements_of(*memory) != write->elements) return std::nullopt;
  write->memory = std::move(*memory);
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
  dataset.file->note_pending(dataset, *write.handle);
  append(dataset.file->log(), dataset.place, write, dxpl);
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

bool has_room(File& file, std::span<const Write> writes) {
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

// Settles early where there is no room for the log and the data, and where that does not help, as
// for a write that is too large, leaves it to HDF5.
bool find_room(File& file, std::span<const Write> writes) {
  if (has_room(file, writes)) return true;
  file.settle();
  for (const Write& write : writes) write.dataset->expected = 0;
  if (file.logs() && has_room(file, writes)) return true;
  for (const Write& write : writes) write.dataset->expected = 0;
  count_left(Left::room);
  return false;
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

std::optional<Write> begin_write(vol::Object& object, hid_t mem_type, const void* buffer,
                                 Left& why) {
  Write write;
  write.dataset = dataset_of(object);
  write.handle = &object;
  write.mem_type = mem_type;
  if (write.dataset == nullptr || !write.dataset->file->logs() || buffer == nullptr) {
    const FileState* const state = FileState::of(*object.connector);
    const bool logs = state != nullptr && state->alone != nullptr && state->alone->logs();
    why = logs || state == nullptr ? Left::dataset : state->left_for;
    if (logs && handle_of(object).addresses_told(object)) why = Left::address;
    return std::nullopt;
  }
  why = Left::conversion;
  write.buffer = static_cast<const std::byte*>(buffer);
  if (!read_types(write) || !vol::update_dims(*write.dataset, object) ||
      !vol::countable(*write.dataset))
    return std::nullopt;
  return write;
}

bool gains(const Write& write) {
  constexpr std::uint64_t kLongRow = 64 << 10;
  return (write.dataset->pending && !write.dataset->file->all_given()) ||
         (write.file.size() > 1 &&
          write.elements * write.dataset->element / write.file.size() < kLongRow);
}

bool too_large_to_convert(const Write& write) {
  constexpr std::uint64_t kMost = 64 << 20;
  return write.converts &&
         write.elements * std::max(write.mem_element, write.dataset->element) > kMost;
}

bool log_all(std::span<const Write> writes, hid_t dxpl) {
  File& file = *writes.front().dataset->file;
  for (const Write& write : writes) settle_others(file, write.dataset->identity.file);
  if (!find_room(file, writes)) return false;
  try {
    for (const Write& write : writes) add(write, dxpl);
    file.limit_memory();
    return true;
  } catch (const std::exception& error) {
    // What has reached the log of this call is written once more by HDF5, with the same bytes.
    log(Level::warning, "file " + file.path() + " is written by HDF5 from now on: " + error.what());
    file.settle();
    file.stop();
    count_left(Left::error);
    return false;
  }
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
