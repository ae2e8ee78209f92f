#include "layers/log/connector/reading/read.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <vector>

#include "base/error.hpp"
#include "base/report/log.hpp"
#include "engine/buffer.hpp"
#include "engine/memory/kind.hpp"
#include "hdf5/library_context.hpp"
#include "hdf5/quiet_errors.hpp"
#include "layers/log/connector/file/logged_file.hpp"
#include "vol/chunks/layout.hpp"
#include "vol/dataset/transfer_list.hpp"

namespace headrace::log_layout {
namespace {

using engine::Buffer;
using engine::Run;

bool converts_otherwise(hid_t dxpl) {
  const PrivateErrors own;
  return !vol::leaves_data_alone(dxpl);
}

// Copies between rows of the program's memory and elements that follow one another.
template <typename Copy>
void for_rows(const Read& read, const Runs& memory, std::size_t element, const Copy& copy) {
  auto* at = static_cast<std::byte*>(read.buffer);
  std::size_t done = 0;
  for (const Run& run : memory) {
    copy(at + run.first * element, done, run.count * element);
    done += run.count * element;
  }
}

}  // namespace

void refuse(const vol::Transfer& read, const char* before) {
  throw Error(vol::describe(read.dataset) + " is not read this way before " + before);
}

bool fetch(const vol::Transfer& read, const Dataset& dataset,
           const engine::log::LoggedWrites* writes, const Runs& file, Buffer& buffer) {
  const hsize_t elements = elements_of(file);
  const Id<Kind::dataspace> space(h5.Screate_simple(1, &elements, nullptr));
  const vol::Transfer whole{read.dataset, dataset.type.get(), space.get(), read.file_space,
                            read.dxpl};
  engine::log::Covered covered(elements);
  const auto bytes = buffer.bytes().first(elements * dataset.element);
  if (writes != nullptr) writes->apply(file, bytes, covered);
  if (covered.all()) return true;
  std::memset(buffer.data(), 0, buffer.size());  // HDF5 may leave memory as it is
  if (vol::pass_on(whole, static_cast<void*>(buffer.data())) < 0) return false;
  if (!covered.none()) writes->apply(file, bytes, covered);
  return true;
}

herr_t read_rows(const Read& read, const Dataset& dataset, const engine::log::LoggedWrites& writes,
                 const Runs& file, const Runs& memory) {
  const std::uint64_t elements = elements_of(file);
  const std::size_t element = h5.Tget_size(read.mem_type);
  Buffer buffer(elements * std::max(element, dataset.element));
  if (!fetch(read, dataset, &writes, file, buffer)) return -1;
  if (h5.Tequal(read.mem_type, dataset.type.get()) <= 0) {
    // Members that the file does not have keep what the program's memory holds.
    Buffer background(elements * element);
    for_rows(read, memory, element, [&](std::byte* row, std::size_t at, std::size_t bytes) {
      std::memcpy(background.data() + at, row, bytes);
    });
    if (h5.Tconvert(dataset.type.get(), read.mem_type, elements, buffer.data(), background.data(),
                    read.dxpl) < 0)
      return -1;
  }
  for_rows(read, memory, element, [&](std::byte* row, std::size_t at, std::size_t bytes) {
    std::memcpy(row, buffer.data() + at, bytes);
  });
  return 0;
}

herr_t read_through(const Read& read, const Dataset& dataset,
                    const engine::log::LoggedWrites& writes, const char* before) {
  constexpr std::size_t kAny = std::numeric_limits<std::size_t>::max();
  if (converts_otherwise(read.dxpl)) refuse(read, before);
  const auto file = vol::file_rows_of(dataset, read.file_space, kAny);
  const bool all = read.file_space == 0;  // H5S_ALL: then there is nothing
  if (!file && (all || h5.Sget_select_npoints(read.file_space) == 0))
    return vol::pass_on(read, read.buffer);
  if (!file || engine::is_device_memory(read.buffer)) refuse(read, before);
  const auto memory = vol::memory_rows_of(read.mem_space, *file, kAny);
  // HDF5 says what it is.
  if (!memory || elements_of(*memory) != elements_of(*file)) return vol::pass_on(read, read.buffer);
  return read_rows(read, dataset, writes, *file, *memory);
}

bool reads_logs(std::span<void* const> datasets) {
  return std::ranges::any_of(datasets, [](const void* one) {
    const LoggedFile* const file = LoggedFile::of(*vol::Object::from(one).connector);
    return file != nullptr && file->reads_logs();
  });
}

namespace {

herr_t read_on_top(const Read& read) {
  LoggedFile* const file = LoggedFile::of(*read.dataset.connector);
  if (file == nullptr || !file->reads_logs()) return vol::pass_on(read, read.buffer);
  Dataset* const dataset = dataset_of(read.dataset);
  if (dataset == nullptr && vol::is_virtual(read.dataset)) refuse(read, file->until());
  const engine::log::LoggedWrites* const writes =
      dataset == nullptr ? nullptr : file->writes_of(*dataset);
  if (writes == nullptr) return vol::pass_on(read, read.buffer);
  const LibraryContext apart;  // HDF5 keeps the mode of the first transfer in a context
  if (!vol::update_dims(*dataset, read.dataset))
    throw Error("HDF5 does not tell the extent of " + vol::describe(read.dataset));
  if (!vol::collective(read.dxpl)) return read_through(read, *dataset, *writes, file->until());
  // Some ranks may have all of it from logs.
  if (converts_otherwise(read.dxpl)) refuse(read, file->until());
  const Read alone(read.with_list(h5.transfer_list.get()), read.buffer);
  return read_through(alone, *dataset, *writes, file->until());
}

}  // namespace

herr_t read_on_top(const vol::Reads& reads) {
  for (std::size_t i = 0; i < reads.size(); ++i)
    if (read_on_top(Read(reads[i], reads.buffer(i))) < 0) return -1;
  return 0;
}

}  // namespace headrace::log_layout
