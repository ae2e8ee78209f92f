// What HDF5 hands to the mpio driver beside a call's arguments, and what selections are in bytes.
// The library's own functions for that are not part of its public interface: where one is missing
// the answers are those of a transfer that is not collective.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "hdf5/api.hpp"

namespace headrace {

// Whether the transfer in progress is one that all ranks make together.
bool collective_transfer();

// Bytes at `offset` after the address of the call: `length` of them within `span`.
struct TransferShape {
  std::uint64_t offset = 0;
  std::uint64_t length = 0;
  std::uint64_t span = 0;
};

// In a collective transfer the size that a driver's read and write get counts elements of an MPI
// datatype. Nothing when that cannot be known; outside collective transfers it is bytes.
std::optional<TransferShape> shape_of_collective(std::size_t count);

// Calls `visit` with each run of bytes of a file selection, relative to the selection's address.
// Calls HDF5, so within NestedCalls. Returns false when the selection cannot be read.
bool for_each_run(hid_t space, std::size_t element,
                  const std::function<void(std::uint64_t offset, std::uint64_t length)>& visit);

}  // namespace headrace
