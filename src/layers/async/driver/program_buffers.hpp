// Which bytes are the program's own data while it is in H5Dwrite: all that may be staged of a file
// over MPI. Fill values and what HDF5 has converted or compressed come from memory of HDF5's. A
// fill value that is written late replaces what another rank has written since.
#pragma once

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "base/call_scope.hpp"

namespace headrace::async {

// While it lives, this thread is in H5Dwrite. The connector makes it, the driver asks.
class ProgramBuffers : public CallScope<ProgramBuffers> {
 public:
  // `buffers`: from the first to the last byte of each memory selection. `independent`: the
  // transfer is not collective, so HDF5 gives the driver bytes and no MPI datatypes.
  ProgramBuffers(std::vector<std::span<const std::byte>> buffers, bool independent)
      : buffers_(std::move(buffers)), independent_(independent) {}

  [[nodiscard]] bool have(std::span<const std::byte> bytes) const;
  [[nodiscard]] bool independent() const { return independent_; }

 private:
  std::vector<std::span<const std::byte>> buffers_;
  bool independent_;
};

}  // namespace headrace::async
