#include "layers/async/driver/mpi_file.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <vector>

#include "base/error.hpp"
#include "base/report/log.hpp"
#include "engine/memory/kind.hpp"
#include "hdf5/quiet_errors.hpp"
#include "layers/async/driver/program_buffers.hpp"
#include "layers/async/settings.hpp"
#include "vfd/storage.hpp"

namespace headrace::async {
namespace {

using Bytes = std::span<const std::byte>;

// Leaked: HDF5 closes what is open while the process exits.
std::vector<MpiFile*>& files() {
  static auto& files = *new std::vector<MpiFile*>;
  return files;
}

// Two handles of one file would each stage for themselves, in no order.
void stage_by_one_handle(MpiFile& file, const char* name) {
  struct stat status{};
  if (::stat(name, &status) < 0) throw Error("the file cannot be found by its name");
  file.device = status.st_dev;
  file.inode = status.st_ino;
  for (MpiFile* other : files()) {
    if (other->device != file.device || other->inode != file.inode) continue;
    stop_mpi_staging(*other);
    file.synchronous = true;
  }
}

std::vector<Bytes> pieces_of(std::uint32_t count, const std::size_t sizes[],
                             const void* const buffers[]) {
  std::vector<Bytes> pieces(count);
  std::size_t size = 0;
  const void* buffer = nullptr;
  bool same_size = false;
  bool same_buffer = false;
  for (std::uint32_t i = 0; i < count; ++i) {
    // As HDF5 shortens its arrays: what ends with 0 or null goes on as before.
    same_size = same_size || (i > 0 && sizes[i] == 0);
    same_buffer = same_buffer || (i > 0 && buffers[i] == nullptr);
    if (!same_size) size = sizes[i];
    if (!same_buffer) buffer = buffers[i];
    pieces[i] = {static_cast<const std::byte*>(buffer), size};
  }
  return pieces;
}

bool may_stage(const MpiFile& file, std::span<const Bytes> pieces) {
  const ProgramBuffers* buffers = ProgramBuffers::current();
  return file.staged != nullptr && !file.synchronous && !file.raw_at_once && buffers != nullptr &&
         std::ranges::all_of(pieces, [&](Bytes piece) {
           return buffers->have(piece) && !engine::is_device_memory(piece.data());
         });
}

// Its ranks wait for each other where a rank that stages would transfer by itself.
bool is_over_stripe(const MpiFile& file) {
  const H5FD_t* below = file.under;
  while (std::string_view(below->cls->name).starts_with("headrace_")) {
    if (std::string_view(below->cls->name) == "headrace_stripe_mpi") return true;
    below = vfd::File::under_of(below);
  }
  return false;
}

}  // namespace

void begin_mpi_staging(MpiFile& file, const char* name, unsigned flags, const Options& given) try {
  file.name = name;
  const AsyncOptions options(given);
  file.alone = options.mpi_staging && h5.write_vector_from_selection != nullptr &&
               vfd::is_path_for_mpi(name) && !is_over_stripe(file);
  if (!file.alone) {
    file.left_for = "left_for_mpi";
    return;
  }
  begin_staging(file, name, flags, options, vfd::Over::mpio);
  if (file.staged == nullptr) return end(file);
  stage_by_one_handle(file, name);
  files().push_back(&file);
} catch (const std::exception& error) {
  end(file);  // the other ranks have opened the file: this one must not fail now
  log(Level::warning,
      "async: file " + std::string(name) + " is not written behind by this rank: " + error.what());
}

std::exception_ptr end_mpi_staging(MpiFile& file) {
  if (file.staged == nullptr) {
    end(file);
    return nullptr;
  }
  if (!try_to_drain(file))
    log(Level::error, "async: file " + file.name + " is closed without " +
                          std::to_string(file.staged->staged_bytes()) +
                          " bytes that could not be written");
  std::erase(files(), &file);
  end(file);
  return std::exchange(file.failed, nullptr);
}

bool try_to_drain(MpiFile& file) {
  if (file.staged == nullptr) return true;
  try {
    drain(file);
    return true;
  } catch (const Error&) {
    if (file.failed == nullptr) file.failed = std::current_exception();
    return file.staged->staged_bytes() == 0;  // it may have succeeded since
  }
}

void stop_mpi_staging(MpiFile& file) {
  try_to_drain(file);
  file.synchronous = true;
}

void tell_failure(MpiFile& file) {
  if (file.failed != nullptr) std::rethrow_exception(std::exchange(file.failed, nullptr));
}

void refuse(const MpiFile& file) {
  throw Error(
      "bytes written before to file " + file.name +
      " could not be written behind the program, so nothing is read or written beside them");
}

void count_left(MpiFile& file, std::uint32_t count, const std::size_t sizes[]) {
  bool same = false;
  std::size_t size = 0;
  for (std::uint32_t i = 0; i < count; ++i) {
    same = same || (i > 0 && sizes[i] == 0);
    if (!same) size = sizes[i];
    file.left += size;
  }
}

void count_left(MpiFile& file, std::size_t count, const hid_t file_spaces[],
                const std::size_t element_sizes[]) {
  if (!summary_wanted()) return;
  const NestedCalls nested;
  bool same = false;
  std::size_t size = 0;
  for (std::size_t i = 0; i < count; ++i) {
    same = same || (i > 0 && element_sizes[i] == 0);
    if (!same) size = element_sizes[i];
    const auto elements = h5.Sget_select_npoints(file_spaces[i]);
    file.left += static_cast<std::uint64_t>(std::max<hssize_t>(elements, 0)) * size;
  }
}

void write_pieces(MpiFile& file, std::uint32_t count, const haddr_t addresses[],
                  const std::size_t sizes[], const void* const buffers[]) {
  const std::vector<Bytes> pieces = pieces_of(count, sizes, buffers);
  if (may_stage(file, pieces)) {
    for (std::uint32_t i = 0; i < count; ++i) file.staged->write(addresses[i], pieces[i]);
    return;
  }
  if (!try_to_drain(file)) refuse(file);
  const NestedCalls nested;
  for (std::uint32_t i = 0; i < count; ++i) {
    if (h5.FDwrite(file.under, H5FD_MEM_DRAW, kDefaultPlist, addresses[i], pieces[i].size(),
                   pieces[i].data()) < 0)
      throw Error("write of file " + file.name + " at offset " + std::to_string(addresses[i]) +
                  " failed");
  }
}

herr_t write_selected(MpiFile& file, std::uint32_t count, hid_t mem_spaces[], hid_t file_spaces[],
                      const haddr_t offsets[], std::size_t element_sizes[], const void* buffers[]) {
  // HDF5 adds the user block's size once more.
  std::vector<haddr_t> relative(offsets, offsets + count);
  for (haddr_t& offset : relative) offset -= file.pub.base_addr;
  const NestedCalls nested;
  return h5.write_vector_from_selection(&file.pub, H5FD_MEM_DRAW, kDefaultPlist, count, mem_spaces,
                                        file_spaces, relative.data(), element_sizes, buffers);
}

bool stage(MpiFile& file, haddr_t address, std::span<const std::byte> bytes) {
  const ProgramBuffers* buffers = ProgramBuffers::current();
  if (buffers == nullptr || !buffers->independent() || !may_stage(file, {&bytes, 1})) return false;
  file.staged->write(address, bytes);
  return true;
}

bool all_raw(std::uint32_t count, const H5FD_mem_t types[]) {
  for (std::uint32_t i = 0; i < count && types[i] != H5FD_MEM_NOLIST; ++i)
    if (types[i] != H5FD_MEM_DRAW) return false;
  return true;
}

bool staging_over_mpi() { return !files().empty(); }

void require_drained() {
  for (MpiFile* file : files())
    if (!try_to_drain(*file)) tell_failure(*file);
}

void drain_mpi_files() {
  for (MpiFile* file : files()) try_to_drain(*file);
}

void stop_staging_over_mpi() {
  for (MpiFile* file : files()) stop_mpi_staging(*file);
}

}  // namespace headrace::async
