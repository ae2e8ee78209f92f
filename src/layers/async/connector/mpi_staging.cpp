#include "layers/async/connector/mpi_staging.hpp"

#include "hdf5/quiet_errors.hpp"
#include "layers/async/driver/mpi_file.hpp"

namespace headrace::async {
namespace {

using Bytes = std::span<const std::byte>;

bool unlinked = false;  // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)

// Empty where it cannot be told; then nothing of it is staged.
Bytes buffer_of(const vol::Transfer& transfer, const void* buffer) {
  if (buffer == nullptr) return {};
  const auto range = transfer.memory_bounds();
  if (!range) return {};
  const std::size_t element = h5.Tget_size(transfer.mem_type);
  return {static_cast<const std::byte*>(buffer) + range->first * element, range->count * element};
}

bool writes_independently(hid_t dxpl) {
  int mode = -1;  // an H5FD_mpio_xfer_t
  return h5.Pget(dxpl == kDefaultPlist ? h5.transfer_list.get() : dxpl, "io_xfer_mode", &mode) >=
             0 &&
         mode == 0;
}

}  // namespace

void mark_buffers(std::optional<ProgramBuffers>& scope, const vol::Writes& writes) {
  if (!staging_over_mpi()) return;
  const PrivateErrors own;
  std::vector<Bytes> buffers;
  buffers.reserve(writes.size());
  for (std::size_t i = 0; i < writes.size(); ++i)
    buffers.push_back(buffer_of(writes[i], writes.buffer(i)));
  scope.emplace(std::move(buffers), writes_independently(writes.dxpl()));
}

void note_unlinked() { unlinked = true; }

void drain_before_close() {
  if (unlinked) drain_mpi_files();
}

}  // namespace headrace::async
