#include "sidecar/replay_process.hpp"

#include <fcntl.h>

#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/report/log.hpp"
#include "sidecar/background_process.hpp"
#include "sidecar/copy_file.hpp"
#include "sidecar/placed/moved_log.hpp"
#include "sidecar/placed/placed_log.hpp"

namespace headrace::sidecar {
namespace {

std::vector<std::string> words_of(const ClosedFile& closed) {
  return {closed.hdf5, closed.file, closed.log, closed.sync ? "true" : "false",
          std::to_string(closed.bandwidth)};
}

}  // namespace

void start_background_move(const ClosedFile& closed) noexcept try {
  const auto part = begin_move(closed.log);
  if (part == nullptr) return;
  std::vector<std::string> words = words_of(closed);
  words.insert(words.begin(), "--move");
  start_background_process(kReplayProgram, std::move(words), part->get());
} catch (const std::exception& error) {
  headrace::log(Level::warning, "log " + closed.log +
                                    " stays on this node until `headrace cache migrate` moves it "
                                    "beside its file: " +
                                    error.what());
}

void start_background_replay(const ClosedFile& closed) noexcept try {
  // Who opens the file on another node cannot see what is locked here.
  if (const auto part = begin_move(closed.log)) {
    std::vector<std::string> words = words_of(closed);
    words.insert(words.begin(), "--placed");
    return start_background_process(kReplayProgram, std::move(words), part->get());
  }
  const Descriptor log(real_log(closed.log), O_RDWR | O_NOFOLLOW);
  start_background_process(kReplayProgram, words_of(closed), log.get());
} catch (const std::exception& error) {
  headrace::log(Level::warning, "file " + closed.file +
                                    " is not put in order in the background, but by `headrace "
                                    "replay` or its next writer: its log: " +
                                    error.what());
}

}  // namespace headrace::sidecar
