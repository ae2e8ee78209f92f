// A log on a node's own storage (placed_log.hpp) that is moved beside its file, where all nodes
// find it: docs/decisions/0025. The copy has the log's name and one more suffix until it takes the
// place of the link. No HDF5.
#pragma once

#include <memory>
#include <string>

#include "base/throttle.hpp"
#include "sidecar/copy_file.hpp"

namespace headrace::sidecar {

// Makes the copy's file and locks it: from then on whoever opens the log's file waits. Waits for
// another process that moves the log. Null where the log is beside its file by then. Throws Error.
std::unique_ptr<Descriptor> begin_move(const std::string& log);
// For who has begun it: when this returns the log is beside its file, after a power cut too, and
// gone from the node's storage. Throws Error; then all is as before, but for a part of the copy.
void move_beside(const std::string& log, Throttle& throttle);
// A log on the node's storage that a program has open for writing says so, as long as that is open
// anywhere, beside all other locks of it. Throws Error where one does.
void mark_in_use(int descriptor) noexcept;
void require_unused(const std::string& log);
// Waits until nobody moves logs of the file, or puts them in order where they are; `far`: that are
// on other nodes, from which they cannot be read here.
void wait_for_moves(const std::string& file, bool far = false);

}  // namespace headrace::sidecar
