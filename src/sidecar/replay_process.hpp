// canonicalise=background: the process of its own (tools/log/replay) that puts the log of a file in
// order once the program has closed the file. No HDF5. See docs/decisions/0012.
#pragma once

#include <cstdint>
#include <string>

namespace headrace::sidecar {

inline constexpr const char* kReplayProgram = "headrace-replay";

// A file that the program has closed and that has a log, by their paths. Of several ranks' logs it
// is the one that stands for all.
struct ClosedFile {
  std::string file;
  std::string log;
  std::string hdf5;   // libhdf5, as known when the file was opened: HDF5 closes files at exit, too
  bool sync = false;  // whether what the process writes is to survive a power cut
  std::uint64_t bandwidth = 0;  // that it may use, see Throttle
};

// Starts the process and does not wait for it. Where the process cannot be started, the log waits
// for `headrace replay` or the next writer, and a warning says so.
void start_background_replay(const ClosedFile& closed) noexcept;
// Of ranks on several nodes, whose logs are on their storage: the same for one node, given its log,
// which the process moves beside the file first. Who moves the last one puts all in order, unless
// `hdf5` is empty.
void start_background_move(const ClosedFile& closed) noexcept;

}  // namespace headrace::sidecar
