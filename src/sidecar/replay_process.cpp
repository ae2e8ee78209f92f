#include "sidecar/replay_process.hpp"

#include <fcntl.h>

#include "base/error.hpp"
#include "base/report/log.hpp"
#include "sidecar/background_process.hpp"
#include "sidecar/copy_file.hpp"
#include "sidecar/placed_log.hpp"

namespace headrace::sidecar {

void start_background_replay(const ClosedFile& closed) noexcept try {
  const Descriptor log(real_log(closed.log), O_RDWR | O_NOFOLLOW);
  start_background_process(kReplayProgram,
                           {closed.hdf5, closed.file, closed.log, closed.sync ? "true" : "false",
                            std::to_string(closed.bandwidth)},
                           log.get());
} catch (const std::exception& error) {
  headrace::log(Level::warning, "file " + closed.file +
                                    " is not put in order in the background, but by `headrace "
                                    "replay` or its next writer: its log: " +
                                    error.what());
}

}  // namespace headrace::sidecar
