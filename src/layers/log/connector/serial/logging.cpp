#include "layers/log/connector/serial/logging.hpp"

#include <algorithm>
#include <vector>

#include "base/report/log.hpp"
#include "hdf5/quiet_errors.hpp"
#include "layers/log/connector/serial/all_files.hpp"
#include "layers/log/connector/serial/serial_file.hpp"
#include "layers/log/connector/writing/write.hpp"

namespace headrace::log_layout {
namespace {

// Of files that no other process has.
SerialFile& file_of(const Write& write) { return static_cast<SerialFile&>(*write.dataset->file); }

// Whether native HDF5 would take longer: many rows, or few that a part of the log lies under; or
// all is to go to the node's storage first.
bool gains(const Write& write) {
  constexpr std::uint64_t kLongRow = 64 << 10;
  return file_of(write).stages_all() ||
         (write.dataset->pending && !file_of(write).all_replayed()) ||
         (write.file.size() > 1 &&
          write.elements * write.dataset->element / write.file.size() < kLongRow);
}

// The same of one that is not known yet: a single row, where nothing of its dataset may be in the
// log. What it takes to know a dataset is many times what HDF5 takes for such a write.
bool gains_nothing(const vol::Transfer& transfer) {
  const LoggedFile* const file = LoggedFile::of(*transfer.dataset.connector);
  if (file == nullptr || !file->logs() || file->stages_all() ||
      static_cast<const SerialFile*>(file)->may_hold(transfer.dataset))
    return false;
  if (transfer.file_space == vol::kAll) return true;
  const auto& spread = transfer.spread();
  return spread && spread->rows <= 1;
}

// Whether HDF5 takes many short rows through its sieve buffer in less time than it takes to log
// them and to put them in order: they are close to each other, and regular, as it is slow at
// listing others.
bool is_dense(const Dataset& dataset, const vol::Transfer& transfer) {
  constexpr std::uint64_t kMany = 1024;  // below it does not take long either way
  constexpr std::uint64_t kClose = 256;  // bytes from one to the next
  if (dataset.chunked() || dataset.pending || dataset.file->stages_all()) return false;
  const auto& spread = transfer.spread();
  return spread && spread->rows >= kMany &&
         spread->extent * dataset.element / spread->rows <= kClose;
}

bool all_gain_nothing(std::span<const vol::Transfer> transfers) {
  const ErrorStackKeeper keep;
  return std::ranges::all_of(transfers, &gains_nothing);
}

// Of large ones all the memory would be needed once more.
bool too_large_to_convert(const Write& write) {
  return write.converts &&
         write.elements * std::max(write.mem_element, write.dataset->element) > kMostConverted;
}

// The write, or why it is HDF5's.
std::variant<Write, Left> examine(const vol::Transfer& transfer, const void* buffer) {
  auto begun = begin_write(transfer.dataset, transfer.mem_type, buffer);
  auto* const write = std::get_if<Write>(&begun);
  if (write == nullptr) return begun;
  if (is_dense(*write->dataset, transfer)) return Left::rows;
  if (!select_in_file(*write, transfer.file_space, kMostRows)) return Left::selection;
  if (!gains(*write)) return Left::rows;
  if (!select_in_memory(*write, transfer.mem_space, kMostRows)) return Left::selection;
  if (too_large_to_convert(*write)) return Left::conversion;
  return begun;
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

bool SerialFile::log_rows(Write& write) {
  return gains(write) && !too_large_to_convert(write) &&
         log_all(std::span(&write, 1), h5.transfer_list.get());
}

namespace {

bool log_transfers(const vol::Writes& call, std::span<const vol::Transfer> transfers) {
  if (all_gain_nothing(transfers)) {
    count_left(Left::rows);
    return false;
  }
  const PrivateErrors own;
  std::vector<Write> writes;
  std::optional<Left> left;
  for (std::size_t i = 0; i < call.size(); ++i) {
    auto examined = examine(transfers[i], call.buffer(i));
    if (const Left* const why = std::get_if<Left>(&examined)) {
      left = *why;
      break;
    }
    writes.push_back(std::get<Write>(std::move(examined)));
  }
  const auto same_file = [&](const Write& one) {
    return one.dataset->file == writes.front().dataset->file;
  };
  if (!left && !std::ranges::all_of(writes, same_file)) left = Left::several_files;
  if (!left && !vol::leaves_data_alone(call.dxpl())) left = Left::transfer_list;
  if (left) {
    count_left(*left);
    return false;
  }
  return log_all(writes, call.dxpl());
}

}  // namespace

bool log_writes(const vol::Writes& writes) {
  if (writes.size() == 0) return false;
  if (writes.size() == 1) {
    const vol::Transfer one = writes[0];
    return log_transfers(writes, {&one, 1});
  }
  std::vector<vol::Transfer> transfers;
  transfers.reserve(writes.size());
  for (std::size_t i = 0; i < writes.size(); ++i) transfers.push_back(writes[i]);
  return log_transfers(writes, transfers);
}

}  // namespace headrace::log_layout
