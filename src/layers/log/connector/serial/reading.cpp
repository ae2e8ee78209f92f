#include "layers/log/connector/serial/reading.hpp"

#include "base/error.hpp"
#include "base/report/log.hpp"
#include "engine/memory/kind.hpp"
#include "hdf5/quiet_errors.hpp"
#include "layers/log/connector/serial/all_files.hpp"
#include "layers/log/connector/serial/serial_file.hpp"

namespace headrace::log_layout {

bool read_logged(const Read& read) {
  constexpr std::size_t kMostRows = 4096;
  constexpr std::uint64_t kMostBytes = 1 << 20;  // of more HDF5 had better get all
  if (read.buffer == nullptr || engine::is_device_memory(read.buffer)) return false;
  Dataset* const dataset = dataset_of(read.dataset);
  if (dataset == nullptr || !dataset->fills || dataset->file->of_ranks()) return false;
  auto& logged = static_cast<SerialFile&>(*dataset->file);
  if (!logged.holds_anew(*dataset)) return false;
  const PrivateErrors own;
  if (!vol::leaves_data_alone(read.dxpl) || !vol::update_dims(*dataset, read.dataset)) return false;
  const auto file = vol::file_rows_of(*dataset, read.file_space, kMostRows);
  if (!file || elements_of(*file) * dataset->element > kMostBytes) return false;
  const auto memory = vol::memory_rows_of(read.mem_space, *file, kMostRows);
  if (!memory || elements_of(*memory) != elements_of(*file)) return false;
  const engine::log::LoggedWrites* const writes = logged.logged(*dataset, *file);
  if (writes == nullptr) return false;
  try {
    if (read_rows(read, *dataset, *writes, *file, *memory) >= 0) return true;
  } catch (const std::exception& error) {
    log(Level::info, vol::describe(read.dataset) + " is not read through its log: " + error.what());
  }
  replay_again();  // and HDF5 tells what is wrong
  return false;
}

}  // namespace headrace::log_layout
