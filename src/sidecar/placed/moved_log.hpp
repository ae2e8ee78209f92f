// A log on a node's own storage (placed_log.hpp) that is moved beside its file, where all nodes
// find it: docs/decisions/0025. The copy has the log's name and one more suffix until it takes the
// place of the link. No HDF5.
#pragma once

#include <memory>
#include <string>

#include "base/throttle.hpp"
#include "sidecar/copy_file.hpp"

namespace headrace::sidecar {

// Makes the copy's file and locks it, which nodes see that cannot see the log: from then on whoever
// opens the log's file waits. Waits for another process that moves the log. Null where the log is
// beside its file by then. Throws Error.
std::unique_ptr<Descriptor> begin_move(const std::string& log);
// For who has begun it: when this returns the log is beside its file, after a power cut too, and
// gone from the node's storage. Throws Error; then all is as before, but for a part of the copy.
void move_beside(const std::string& log, Throttle& throttle);
// Says of a log on the node's storage that a program writes to it, until the last descriptor of
// that opening is closed. It is no flock(), and in the way of none.
void mark_in_use(int descriptor) noexcept;
// Throws Error where a program has said that of a log.
void require_unused(const std::string& log);
// Waits until no process moves logs of the file beside it, or puts them in order where they are.
// `far`: only for logs on other nodes, which cannot be read here.
void wait_for_moves(const std::string& file, bool far = false);

}  // namespace headrace::sidecar
