// From the log to the dataset.
#pragma once

#include "base/throttle.hpp"
#include "comm/communicator.hpp"
#include "engine/log/logged_writes.hpp"
#include "layers/log/connector/file/dataset.hpp"

namespace headrace::log_layout {

// Writes what the layers hold of the dataset through its handle, in as large pieces as memory
// allows; of a chunked one whole chunks, and only those that something was written to. Throws
// Error.
void replay(Dataset& dataset, const engine::log::LoggedWrites& writes, Throttle& throttle);

// What one of several ranks writes of it: some of the boxes that the layers hold something of, as
// all ranks count them.
struct Share {
  Communicator* ranks = nullptr;
  std::uint64_t boxes = 0;
  hid_t together = kInvalidId;  // a transfer list where all ranks must write at the same time
};
// Has HDF5 read the boxes from the file again, too, if it may have them in memory (`cached`).
std::uint64_t count_boxes(Dataset& dataset, const engine::log::LoggedWrites& writes,
                          const Share& share, bool cached);
// Throws Error, but makes all calls that other ranks wait for first.
void replay_share(Dataset& dataset, const engine::log::LoggedWrites& writes, const Share& share);

// Throws Error unless all that the layers hold is in the dataset.
void verify(Dataset& dataset, const engine::log::LoggedWrites& writes);

}  // namespace headrace::log_layout
