#include "layers/log/connector/writing/write.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "engine/memory/kind.hpp"
#include "hdf5/report/events.hpp"
#include "hdf5/report/summary.hpp"
#include "layers/log/connector/file/logged_file.hpp"
#include "layers/log/connector/state.hpp"
#include "vol/dataset/selection.hpp"

namespace headrace::log_layout {
namespace {

using engine::Run;

// In the order of Left.
constexpr std::array<std::string_view, 13> kLeftNames{
    "left_for_mpi",     "left_for_swmr",          "left_for_ended",         "left_for_dataset",
    "left_for_address", "left_for_rows",          "left_for_selection",     "left_for_conversion",
    "left_for_memory",  "left_for_several_files", "left_for_transfer_list", "left_for_room",
    "left_for_error"};

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

// Of a dataset that has no place in a log, or a write of nothing.
Left why_not_logged(vol::Object& object) {
  const FileState* const state = object.connector->state.find<FileState>();
  if (state == nullptr) return Left::dataset;
  if (state->file == nullptr || !state->file->logs()) return state->left_for;
  return handle_of(object).addresses_told(object) ? Left::address : Left::dataset;
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

std::variant<Write, Left> begin_write(vol::Object& object, hid_t mem_type, const void* buffer) {
  Dataset* const dataset = dataset_of(object);
  if (dataset == nullptr || !dataset->file->logs() || buffer == nullptr)
    return why_not_logged(object);
  if (engine::is_device_memory(buffer)) return Left::memory;
  Write write = write_of(*dataset, object, mem_type, buffer);
  if (write.mem_element == 0 || (write.converts && !converts_alone(*dataset, mem_type)) ||
      !vol::update_dims(*dataset, object) || !vol::countable(*dataset))
    return Left::conversion;
  return write;
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
