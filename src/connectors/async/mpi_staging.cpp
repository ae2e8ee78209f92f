#include "connectors/async/mpi_staging.hpp"

#include "drivers/async/mpi_file.hpp"
#include "hdf5/quiet_errors.hpp"
#include "vol/dataset/transfer.hpp"

namespace headrace::async {
namespace {

using Bytes = std::span<const std::byte>;

bool unlinked = false;  // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)

// Empty where it cannot be told; then nothing of it is staged.
Bytes buffer_of(void* dataset, hid_t mem_type, hid_t mem_space, hid_t file_space,
                const void* buffer) {
  if (buffer == nullptr) return {};
  const auto range = vol::regular_memory_bounds(dataset, mem_space, file_space);
  if (!range) return {};
  const std::size_t element = h5.Tget_size(mem_type);
  return {static_cast<const std::byte*>(buffer) + range->first * element, range->count * element};
}

bool writes_independently(hid_t dxpl) {
  int mode = -1;  // an H5FD_mpio_xfer_t
  return h5.Pget(dxpl == kDefaultPlist ? h5.transfer_list.get() : dxpl, "io_xfer_mode", &mode) >=
             0 &&
         mode == 0;
}

}  // namespace

void mark_buffers(std::optional<ProgramBuffers>& scope, std::size_t count, void* dset[],
                  hid_t mem_type[], hid_t mem_space[], hid_t file_space[], hid_t dxpl,
                  const void* buf[]) {
  if (!staging_over_mpi()) return;
  const PrivateErrors own;
  std::vector<Bytes> buffers;
  buffers.reserve(count);
  for (std::size_t i = 0; i < count; ++i)
    buffers.push_back(buffer_of(dset[i], mem_type[i], mem_space[i], file_space[i], buf[i]));
  scope.emplace(std::move(buffers), writes_independently(dxpl));
}

void note_unlinked() { unlinked = true; }

void drain_before_close() {
  if (unlinked) drain_mpi_files();
}

}  // namespace headrace::async
